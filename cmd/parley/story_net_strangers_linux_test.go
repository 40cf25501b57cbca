package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/parleyfleet/parley/internal/testkit/netrig"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// unchanged calls try, and checks every host afterwards. Each host must have what it had before and
// what the fleet's own humans said meanwhile. The hosts must still hear each other.
func (f *netFleet) unchanged(try func()) {
	f.t.Helper()
	f.settle()
	before, said := f.hosts[0].log(), len(f.sent)
	try()
	for i, h := range f.hosts {
		f.hears(h, f.hosts[(i+1)%len(f.hosts)])
	}
	f.settle()
	f.same()
	new := len(f.sent) - said
	after := f.hosts[0].log()
	if len(after) != len(before)+new {
		f.t.Errorf("there are %d messages, where %d were and %d were said", len(after), len(before), new)
	}
	kept := after[:0]
	for _, m := range after {
		if slices.ContainsFunc(before, func(b control.Message) bool { return b.Path == m.Path }) {
			kept = append(kept, m)
		}
	}
	if diff := cmp.Diff(inJSON(f.t, before), inJSON(f.t, kept)); diff != "" {
		f.t.Errorf("what was there before has changed:\n%s", diff)
	}
}

// stranger runs the stranger's program on a machine and returns what it printed.
func (f *netFleet) stranger(at *netrig.Host, input []byte, args ...string) string {
	f.t.Helper()
	cmd := at.Command(f.t.Context(), append([]string{"stranger"}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		f.t.Errorf("the stranger's program failed: %v: %s", err, out)
	}
	return string(out)
}

// seedFile returns the file of the host's own key, as somebody gets it who could read the disk.
func (h *netHost) seedFile() string {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.home.Keys(), "*.nk"))
	if err != nil || len(files) != 1 {
		h.t.Fatalf("the keys of %s are %q, %v", h.alias, files, err)
	}
	return files[0]
}

// ports returns all addresses at which processes on the host's machine listen on TCP.
func (h *netHost) ports() []string {
	h.t.Helper()
	out, err := h.at.Command(h.t.Context(), "cat", "/proc/net/tcp", "/proc/net/tcp6").Output()
	if err != nil {
		h.t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != "0A" {
			continue
		}
		where, port, _ := strings.Cut(fields[1], ":")
		ip, err := hex.DecodeString(where)
		number, err2 := strconv.ParseUint(port, 16, 16)
		if err != nil || err2 != nil || len(ip) != 4 {
			h.t.Errorf("%s listens at %s, which is no IPv4 address", h.alias, fields[1])
			continue
		}
		found = append(found, fmt.Sprintf("%d.%d.%d.%d:%d", ip[3], ip[2], ip[1], ip[0], number))
	}
	return found
}

// Somebody without a key tries every port that a node has open: from another machine the ports with
// an address, from the same machine those of the loopback. This stranger gets nothing, changes
// nothing, and holds nobody up.
func TestStrangersWithoutAKey(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, 3)
	evil, hub := f.net.Host("evil"), f.hosts[0]
	ports := hub.ports()
	t.Logf("%s listens at %q", hub.alias, ports)
	nobody, _ := newSeedFile(t)
	f.unchanged(func() {
		var trying sync.WaitGroup
		for _, port := range ports {
			from := evil
			if strings.HasPrefix(port, "127.") {
				from = hub.at
			} else if !strings.HasPrefix(port, hub.at.Address+":") {
				t.Errorf("%s listens at %s, which nobody asked for", hub.alias, port)
			}
			trying.Go(func() { f.withoutAKey(from, port, nobody) })
		}
		trying.Wait()
	})
}

// withoutAKey has a stranger try a port.
func (f *netFleet) withoutAKey(from *netrig.Host, port, unknownKey string) {
	// A NATS server greets everybody with some hundred bytes about itself.
	var got int
	if out := f.stranger(from, nil, "garbage", port); !matches(out, "got %d", &got) || got > 6*600 {
		f.t.Errorf("%s: who writes garbage %s", port, out)
	}
	for name, seed := range map[string]string{"no key": "-", "an unknown key": unknownKey} {
		if out := f.stranger(from, nil, "listen", port, seed, "parley.>", "1"); !strings.HasPrefix(out, "refused:") {
			f.t.Errorf("%s: with %s a stranger gets %q", port, name, out)
		}
	}
	if out := f.stranger(from, nil, "slow", port); out != "cut off 40 of 40\n" {
		f.t.Errorf("%s: of those who take for ever were %s", port, out)
	}
}

func matches(text, form string, into ...any) bool {
	n, err := fmt.Sscanf(text, form, into...)
	return err == nil && n == len(into)
}

// Somebody has the key of one host. With it they speak on another host's subjects, or repeat what
// was said. It prevents: one host whose key was stolen speaking for all.
func TestStrangersWithAHostsKey(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, 3)
	evil, hub, victim, robbed := f.net.Host("evil"), f.hosts[0], f.hosts[1], f.hosts[2]
	port, seed := hub.status().Bus.Clients, robbed.seedFile()
	f.say(victim, "nat-"+hub.alias, 3)
	f.say(robbed, "nat-"+hub.alias, 3)
	f.settle()

	// This is what passes while the thief listens: letters and messages of all hosts.
	heard := make(chan string, 1)
	go func() {
		heard <- f.stranger(evil, nil, "listen", port, seed, "parley."+hub.status().Fleet.String()+".>", "7")
	}() // presence is told every five seconds
	f.await("the thief listens", scratch.Patience(), func() bool {
		f.hears(victim, robbed)
		f.hears(hub, victim)
		select {
		case text := <-heard:
			heard <- text
			return true
		default:
			return false
		}
	})
	said := <-heard
	attempts, kinds := f.replays(said, victim.alias, robbed.alias)
	for _, kind := range []string{"hey", "presence", "heard"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("the thief heard no %s", kind)
		}
	}
	f.unchanged(func() {
		for line := range strings.Lines(f.stranger(evil, attempts, "speak", port, seed)) {
			foreign := strings.HasPrefix(line, "parley."+hub.status().Fleet.String()+"."+victim.alias+".")
			if denied := strings.Contains(strings.ToLower(line), "permissions violation"); denied != foreign {
				t.Errorf("the thief says on %s", line)
			}
		}
	})
}

// replays returns what a thief says who has heard some JSON lines. First comes everything of the
// victim again, on the victim's subjects and on the thief's. Then come the thief's own messages, as
// they were and at another path. kinds are the kinds of the victim's subjects.
func (f *netFleet) replays(heard, victim, own string) (attempts []byte, kinds []string) {
	f.t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	say := func(l strangersLetter) {
		if err := enc.Encode(l); err != nil {
			f.t.Fatal(err)
		}
	}
	for dec := json.NewDecoder(strings.NewReader(heard)); dec.More(); {
		var l strangersLetter
		if err := dec.Decode(&l); err != nil {
			f.t.Fatalf("the thief heard what is no JSON: %v: %s", err, heard)
		}
		tokens := strings.Split(l.Subject, ".")
		if len(tokens) < 4 || tokens[2] != victim {
			continue
		}
		kinds = append(kinds, tokens[3])
		say(l)
		tokens[2] = own
		l.Subject = strings.Join(tokens, ".")
		say(l)
	}
	fleet := f.hosts[0].status().Fleet.String()
	for p, data := range filesInGit(f.t, f.remote.Dir) {
		if f.sent[p] != own {
			continue
		}
		moved := protocol.NewPath(p.Channel(), p.Time(), 0xbad)
		for _, path := range []protocol.Path{p, moved} {
			say(strangersLetter{Subject: "parley." + fleet + "." + own + ".broadcast", Data: data,
				Header: nats.Header{protocol.HeaderPath: {path.String()}, protocol.HeaderHost: {own}}})
		}
	}
	return out.Bytes(), kinds
}

// A host's key was stolen. The host takes a new key and revokes the stolen one, which the thief
// still has. It prevents: a stolen key that opens doors for ever.
func TestStrangersWithARevokedKey(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, 3)
	evil, hub, robbed := f.net.Host("evil"), f.hosts[0], f.hosts[2]
	port, stolen := hub.status().Bus.Clients, filepath.Join(t.TempDir(), "stolen")
	seed, err := os.ReadFile(robbed.seedFile())
	if err == nil {
		err = os.WriteFile(stolen, seed, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	subject := "parley." + hub.status().Fleet.String() + ".>"
	if out := f.stranger(evil, nil, "listen", port, stolen, subject, "0"); out != "" {
		t.Fatalf("the key opens nothing while it is good: %s", out)
	}
	key, err := nkeys.ParseDecoratedNKey(seed)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	robbed.typing("rotate "+robbed.alias, "host", "rotate", "--overlap", "0")
	robbed.typing("revoke "+robbed.alias, "host", "revoke", robbed.alias, "--key", public)
	f.took("the hub lets it in no more", seconds, func() bool {
		return strings.HasPrefix(f.stranger(evil, nil, "listen", port, stolen, subject, "0"), "refused:")
	})
	f.took("the host is linked with its new key", seconds, f.linked)
	f.unchanged(func() {
		letter, err := json.Marshal(strangersLetter{Subject: strings.TrimSuffix(subject, ">") + robbed.alias + ".bell"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range f.hosts[:2] {
			if out := f.stranger(evil, letter, "speak", h.status().Bus.Clients, stolen); !strings.HasPrefix(out, "refused:") {
				t.Errorf("%s takes what the revoked key says: %s", h.alias, out)
			}
		}
	})

	// A message that the thief signs and pushes is refused everywhere, whatever its date.
	v := newVandal(t, f.remote.Dir, hub.status().Record.ID)
	v.key = key
	channel := protocol.DeriveChannel(v.record, "nat-"+robbed.alias, "nat-"+hub.alias)
	forged := protocol.NewPath(channel, time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond), 0xf0e1)
	v.sign(protocol.Message{Path: forged, From: "nat-" + robbed.alias, To: []protocol.Address{{Name: "nat-" + hub.alias}},
		Host: protocol.Name(robbed.alias), Run: "0be7c402", Seq: 1, Body: "the thief was here"})
	v.push(hub.storyHost)
	for _, h := range f.hosts {
		h.until("it names what the thief pushed", func() bool { return strings.Contains(h.must("status"), forged.String()) })
		if m := h.messageWith("the thief was here"); m.Signature != protocol.SignatureRefused {
			t.Errorf("%s calls it %s", h.alias, m.Signature)
		}
	}
	if out := hub.must("inbox", "--json"); strings.Contains(out, "the thief was here") {
		t.Error("it is in the inbox")
	}
}

// Another user of the same machine asks at the node's control socket. It prevents: every user of a
// machine speaking for the human of its host.
func TestStrangersAtTheControlSocket(t *testing.T) {
	t.Parallel()
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Getuid() != 0 {
		t.Skip("SKIPPED: needs root, to be another user: set PARLEY_ROOT_TESTS=1")
	}
	h := newStoryHost(t, "white")
	h.start()
	for dir := h.home.Dir; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && dir != h.home.Dir && info.Mode().Perm()&0o001 == 0 {
			if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil { // only the home itself is to keep others out
				t.Fatal(err)
			}
		}
	}
	// The program is one that another user may run.
	self, err := os.Executable()
	program := filepath.Join(filepath.Dir(h.home.Dir), "stranger")
	if err == nil {
		err = os.Link(self, program)
	}
	if err != nil {
		t.Skipf("SKIPPED: needs a program that another user may run: %v", err)
	}
	for _, user := range []uint32{0, 65534} {
		cmd := exec.CommandContext(t.Context(), program, "socket", h.home.Socket())
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		out, err := cmd.CombinedOutput()
		if denied := strings.Contains(string(out), "permission denied"); err != nil || denied != (user != 0) {
			t.Errorf("user %d: %v: %s", user, err, out)
		}
	}
}

// A man in the middle ends TLS with his own certificate, on the way of a host to all others. It
// prevents: links that believe whoever answers at an address.
func TestManInTheMiddle(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, 3)
	evil, lonely := f.net.Host("evil"), f.hosts[2]
	hubs := f.hosts[:2]
	between := evil.Command(context.Background(), "stranger", "between", evil.Address+":4223", hubs[0].at.Address+":4223")
	word := &firstWord{came: make(chan struct{})}
	between.Stdout = word
	if err := between.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // ends with the process
		_ = between.Wait() // by the signal
		close(ended)
	}()
	t.Cleanup(func() {
		_ = between.Process.Kill() // it may have ended with its host
		<-ended
	})
	<-word.came

	f.net.Break(f.fromBus(lonely)...)
	f.took("the link is down", seconds, func() bool { return !lonely.linkUp() })
	for _, hub := range hubs {
		f.net.Divert(lonely.at, hub.at, 4223, evil)
	}
	f.net.Break()
	f.took("the host says that another machine answers", seconds, func() bool {
		return strings.Contains(lonely.must("status"), "another machine answers")
	})
	lonely.probed(hubs[0], "key")
	f.say(lonely, "nat-"+hubs[0].alias, 3)
	f.settle() // by git
	if lonely.linkUp() {
		t.Error("the host has a link to the man in the middle")
	}
	f.net.Straight()
	f.took("the host is linked again", scratch.Patience(), f.linked)
	f.same()
	_ = between.Process.Kill() // after its end its output may be read
	<-ended
	if text := word.text.String(); strings.Contains(text, "passed") {
		t.Errorf("the man in the middle has passed something on:\n%s", text)
	}
}

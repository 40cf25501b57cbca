package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/internal/testkit/natstool"
	"github.com/parleyfleet/parley/internal/testkit/netrig"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// netFleet is a fleet on a network that can be broken. Each of its hosts has an address of its own,
// a human nat-ALIAS and an agent echo-ALIAS. The agent answers with what it was asked.
type netFleet struct {
	t      *testing.T
	net    *netrig.Net
	remote *netrig.Remote
	system *netrig.Host // runs an unmodified nats-server for all; nil: the hosts link up themselves
	hubs   int          // so many of them listen for links
	hosts  []*netHost

	mu   sync.Mutex               // guards sent
	sent map[protocol.Path]string // who sent it
}

// netHost is one host of such a fleet.
type netHost struct {
	*storyHost
	alias string
	at    *netrig.Host
}

// newNetFleet makes a fleet that meets through git alone, and starts its nodes. The first host
// founds the record.
func newNetFleet(t *testing.T, size int) *netFleet {
	t.Helper()
	f := openNetFleet(t)
	f.fill(size)
	return f
}

// newLinkedFleet makes a fleet whose first two hosts listen for links. The hosts learn of each
// other by the record alone.
func newLinkedFleet(t *testing.T, size int) *netFleet {
	t.Helper()
	f := openNetFleet(t)
	f.hubs = 2
	f.fill(size)
	f.took("all hosts are live", scratch.Patience(), f.linked)
	return f
}

// newSystemFleet makes a fleet whose bus is a nats-server on a host of its own.
func newSystemFleet(t *testing.T, size int) *netFleet {
	t.Helper()
	f := openNetFleet(t)
	f.system = f.net.Host("nats")
	server := f.system.Command(context.Background(), natstool.Program(t, "nats-server"), "-a", f.system.Address, "-p", "4222")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended with its host
		_ = server.Wait()         // by the signal
	})
	f.fill(size)
	f.await("all hosts are live", scratch.Patience(), f.linked)
	return f
}

func openNetFleet(t *testing.T) *netFleet {
	t.Helper()
	n := netrig.Open(t)
	return &netFleet{t: t, net: n, remote: n.Remote(t), sent: map[protocol.Path]string{}}
}

// fill makes the hosts and starts them.
func (f *netFleet) fill(size int) {
	f.t.Helper()
	for i := range size {
		f.hosts = append(f.hosts, f.add(netAlias(i)))
	}
	for _, h := range f.hosts {
		h.start()
		h.must("agent", "add", "echo-"+h.alias, "--exec", "cat")
	}
	f.settle()
}

// netAlias returns the alias of the host with this number.
func netAlias(i int) string {
	aliases := []string{"white", "black", "grey", "blue", "red"}
	if i < len(aliases) {
		return aliases[i]
	}
	return fmt.Sprintf("host%d", i)
}

// add makes the home of one more host. Its node looks at the remote every second.
func (f *netFleet) add(alias string) *netHost {
	f.t.Helper()
	at := f.net.Host(alias)
	words := []string{"init", "--remote", f.remote.URL}
	if len(f.hosts) > 0 {
		words = []string{"join", f.remote.URL}
	}
	if f.system != nil {
		words = append(words, "--bus-url", "nats://"+f.system.Address+":4222")
	}
	if len(f.hosts) < f.hubs {
		words = append(words, "--listen", at.Address+":4222")
	}
	h := &netHost{alias: alias, at: at, storyHost: newStoryHostInside(f.t, at.Inside(), append(words, "--alias", alias, "--human", "nat-"+alias)...)}
	text, err := os.ReadFile(h.home.Config())
	if err == nil {
		quick := strings.Replace(string(text), "fetch_interval: 10s", "fetch_interval: 1s", 1)
		err = os.WriteFile(h.home.Config(), []byte(quick), 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return h
}

// say has the human of a host say n things to someone, through the node's socket.
func (f *netFleet) say(h *netHost, to string, n int) {
	f.t.Helper()
	for i := range n {
		m, err := control.Send.Ask(f.t.Context(), h.client, control.SendRequest{As: "nat-" + h.alias, To: []string{to}, Body: fmt.Sprintf("%d from %s", i, h.alias)})
		if err != nil {
			f.t.Fatal(err)
		}
		f.mu.Lock()
		f.sent[m.Path] = h.alias
		f.mu.Unlock()
	}
}

// sayAll has every host say n things to the human of each other host, and ask that host's agent
// something.
func (f *netFleet) sayAll(n int) {
	f.t.Helper()
	for _, h := range f.hosts {
		for _, other := range f.hosts {
			if h != other {
				f.say(h, "nat-"+other.alias, n)
				f.say(h, "echo-"+other.alias+"@"+other.alias, 1)
			}
		}
	}
}

// during calls say once, and then again after short pauses until the time is up.
func (f *netFleet) during(whole time.Duration, say func()) {
	f.t.Helper()
	for end := time.Now().Add(whole); ; <-time.After(500 * time.Millisecond) { // people pause
		if say(); time.Now().After(end) {
			return
		}
	}
}

// settled does what settle does, and logs how long that took since something happened.
func (f *netFleet) settled(since string) {
	f.t.Helper()
	began := time.Now()
	f.settle()
	f.t.Logf("all was the same on %d hosts, with %d messages, %s after %s", len(f.hosts), f.hosts[0].status().Record.Messages,
		time.Since(began).Round(time.Millisecond), since)
}

// await asks again and again until so returns true.
func (f *netFleet) await(what string, within time.Duration, so func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(within); !so(); {
		if time.Now().After(deadline) {
			for _, h := range f.hosts {
				f.t.Logf("%s: %+v", h.alias, h.status())
			}
			f.t.Fatalf("waited %s in vain until %s", within, what)
		}
		<-time.After(50 * time.Millisecond) // only spares the processor
	}
}

// settle waits until every host has what the remote has and nothing more, and no agent owes an
// answer.
func (f *netFleet) settle() {
	f.t.Helper()
	f.await("all hosts have the same", scratch.Patience(), func() bool {
		tip := strings.TrimSpace(f.remote.Git(f.t, "rev-parse", "main"))
		known := -1
		for _, h := range f.hosts {
			s := h.status()
			if known == -1 {
				known = s.Record.Messages
			}
			if s.Record.Unrecorded+s.Record.Unpushed > 0 || s.Record.Tip != tip || s.Record.Messages != known || len(s.Hosts) != len(f.hosts) {
				return false
			}
		}
		return f.answered()
	})
}

// answered reports whether each agent has answered everything that it was asked, as the first host
// sees it.
func (f *netFleet) answered() bool {
	asked, answers := 0, 0
	for _, m := range f.hosts[0].log() {
		if f.sent[m.Path] != "" && strings.HasPrefix(m.To[0], "echo-") {
			asked++
		}
		if strings.HasPrefix(m.From, "echo-") && m.Re != "" {
			answers++
		}
	}
	return answers >= asked
}

// same checks that every host has everything that was said exactly once, and that the same commands
// print the same on each host.
func (f *netFleet) same() {
	f.t.Helper()
	var want, names, hosts string
	for i, h := range f.hosts {
		h.must("record", "verify")
		log := h.log()
		got := inJSON(f.t, log)
		if i == 0 {
			want, names, hosts = got, h.directory(), h.hostsKnown()
			f.complete(log)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.t.Errorf("the logs differ (-%s +%s):\n%s", f.hosts[0].alias, h.alias, diff)
		}
		if diff := cmp.Diff(names, h.directory()); diff != "" {
			f.t.Errorf("the directories differ (-%s +%s):\n%s", f.hosts[0].alias, h.alias, diff)
		}
		if diff := cmp.Diff(hosts, h.hostsKnown()); diff != "" {
			f.t.Errorf("the hosts differ (-%s +%s):\n%s", f.hosts[0].alias, h.alias, diff)
		}
	}
	f.once()
}

// inJSON returns messages, a line each, without what depends on the moment: the hosts that are
// known to have heard them.
func inJSON(t *testing.T, all []control.Message) string {
	t.Helper()
	var b strings.Builder
	for _, m := range all {
		m.Heard = nil
		if err := control.WriteJSON(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// complete checks that a log has all that was said, each once, and one answer to each question.
func (f *netFleet) complete(log []control.Message) {
	f.t.Helper()
	times, answers := map[protocol.Path]int{}, map[string]int{}
	for _, m := range log {
		times[m.Path]++
		if strings.HasPrefix(m.From, "echo-") {
			answers[m.Re]++
		}
	}
	for _, m := range log {
		if times[m.Path] != 1 {
			f.t.Errorf("%s is there %d times", m.Path, times[m.Path])
		}
		if n := answers[m.Path.String()]; f.sent[m.Path] != "" && strings.HasPrefix(m.To[0], "echo-") && n != 1 {
			f.t.Errorf("the question %s has %d answers", m.Path, n)
		}
	}
	for p := range f.sent {
		if times[p] == 0 {
			f.t.Errorf("%s is missing", p)
		}
	}
}

// once checks, with git alone, that the remote has all that was said and no conflict.
func (f *netFleet) once() {
	f.t.Helper()
	there := filesInGit(f.t, f.remote.Dir)
	for p := range f.sent {
		if there[p] == nil {
			f.t.Errorf("the remote lacks %s", p)
		}
	}
	if names := f.remote.Git(f.t, "ls-tree", "-r", "--name-only", "main", "data/conflicts/"); names != "" && !strings.HasSuffix(strings.TrimSpace(names), ".gitkeep") {
		f.t.Errorf("the remote has conflicts:\n%s", names)
	}
}

// pushed reports whether the remote has all that these hosts said.
func (f *netFleet) pushed(hosts ...*netHost) bool {
	there := filesInGit(f.t, f.remote.Dir)
	for p, alias := range f.sent {
		if there[p] == nil && slices.ContainsFunc(hosts, func(h *netHost) bool { return h.alias == alias }) {
			return false
		}
	}
	return true
}

// directory returns what "parley ls" tells of the fleet, without what depends on the moment or on
// the host that asks.
func (h *netHost) directory() string {
	var all []control.Participant
	if err := json.Unmarshal([]byte(h.must("ls", "--json")), &all); err != nil {
		h.t.Fatal(err)
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, fmt.Sprintf("%s %s %s", p.Name, p.Kind, p.Host))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// hostsKnown returns what "parley status" tells of the record and of the hosts.
func (h *netHost) hostsKnown() string {
	s := h.status()
	lines := []string{s.Record.ID, s.Record.Tip, fmt.Sprint(s.Record.Messages), fmt.Sprint(s.Refused)}
	for _, o := range s.Hosts {
		lines = append(lines, fmt.Sprintf("%s %q", o.Alias, o.Agents))
	}
	return strings.Join(lines, "\n")
}

// fromBus returns faults that keep hosts from the bus, silently.
func (f *netFleet) fromBus(hosts ...*netHost) []netrig.Fault {
	var faults []netrig.Fault
	for _, h := range hosts {
		for _, other := range f.others(h) {
			faults = append(faults, netrig.Drop(h.at, other), netrig.Drop(other, h.at))
		}
	}
	return faults
}

// others returns the machines at which a host meets the others.
func (f *netFleet) others(h *netHost) []*netrig.Host {
	if f.system != nil {
		return []*netrig.Host{f.system}
	}
	var all []*netrig.Host
	for _, other := range f.hosts {
		if other != h {
			all = append(all, other.at)
		}
	}
	return all
}

// unheard returns faults that lose what a host says to others on the bus. Those of deaf lose what
// the others say to it.
func (f *netFleet) unheard(h *netHost) (faults []netrig.Fault) {
	for _, other := range f.others(h) {
		faults = append(faults, netrig.Drop(h.at, other))
	}
	return faults
}

func (f *netFleet) deaf(h *netHost) (faults []netrig.Fault) {
	for _, other := range f.others(h) {
		faults = append(faults, netrig.Drop(other, h.at))
	}
	return faults
}

// linked reports whether all hosts have a link that works and see each other live.
func (f *netFleet) linked() bool { return f.live(f.hosts...) }

// live reports whether each of these hosts has a link that works and sees the others of them live.
func (f *netFleet) live(hosts ...*netHost) bool {
	for _, h := range hosts {
		for _, other := range hosts {
			if !h.linkUp() || h != other && !h.sees(other) {
				return false
			}
		}
	}
	return true
}

// alone reports whether a host sees no other host live, and no other host sees it live.
func (f *netFleet) alone(h *netHost) bool {
	for _, other := range f.hosts {
		if other != h && (h.sees(other) || other.sees(h)) {
			return false
		}
	}
	return true
}

func (h *netHost) sees(other *netHost) bool {
	return slices.ContainsFunc(h.status().Hosts, func(o control.HostStatus) bool { return o.Live && o.Alias.String() == other.alias })
}

// linkUp reports whether the host has a link that works, or a connection to the existing system
// that works.
func (h *netHost) linkUp() bool {
	return slices.ContainsFunc(h.status().Bus.Peers, func(l control.LinkStatus) bool { return l.Up })
}

// hears has the human of one host say something to the human of another, and checks that the other
// host hears it at once, by the bus.
func (f *netFleet) hears(from, to *netHost) {
	f.t.Helper()
	m, err := control.Send.Ask(f.t.Context(), from.client, control.SendRequest{As: "nat-" + from.alias, To: []string{"nat-" + to.alias}, Body: "are you there?", HeardWithin: seconds})
	if err != nil || !slices.Contains(m.Heard, protocol.Name(to.alias)) {
		f.t.Fatalf("%s did not hear %s: heard by %q, %v", to.alias, from.alias, m.Heard, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent[m.Path] = from.alias
}

// probed checks that "parley fleet probe" names the cause why no link to the other host works. ""
// means that this link works.
func (h *netHost) probed(other *netHost, cause string) {
	h.t.Helper()
	out, err := h.try("host", "probe", other.alias, "--json")
	var probe control.Probe
	if bad := json.Unmarshal([]byte(out), &probe); bad != nil || len(probe.Addresses) != 1 || probe.Addresses[0].Cause != cause || (err == nil) != (cause == "") {
		h.t.Errorf("%s probes %s: %+v, %v, want the cause %q", h.alias, other.alias, probe, err, cause)
	}
}

// linkedTo reports whether the host has a link that works to the other host itself.
func (h *netHost) linkedTo(other *netHost) bool {
	return slices.ContainsFunc(h.status().Bus.Peers, func(l control.LinkStatus) bool { return l.Up && strings.HasPrefix(l.Peer, other.alias) })
}

// took waits until so returns true, and logs how long that took.
func (f *netFleet) took(what string, within time.Duration, so func() bool) {
	f.t.Helper()
	began := time.Now()
	f.await(what, within, so)
	f.t.Logf("%s after %s", what, time.Since(began).Round(time.Millisecond))
}

// fromRemote returns faults that keep hosts from the remote, silently.
func (f *netFleet) fromRemote(hosts ...*netHost) []netrig.Fault {
	var faults []netrig.Fault
	for _, h := range hosts {
		faults = append(faults, netrig.Drop(h.at, f.remote.Host), netrig.Drop(f.remote.Host, h.at))
	}
	return faults
}

// soak returns how much of something a test takes: little, or with PARLEY_SOAK much.
func soak[N any](little, much N) N {
	if os.Getenv("PARLEY_SOAK") != "" {
		return much
	}
	return little
}

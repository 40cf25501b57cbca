package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nkeys"
	"github.com/parleyfleet/parley/internal/testkit/natstool"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// natsProgram is the command line program of NATS, as its makers built it.
type natsProgram struct {
	t      *testing.T
	path   string
	config string // the folder of its contexts
}

func newNatsProgram(t *testing.T) natsProgram {
	t.Helper()
	return natsProgram{t, natstool.Program(t, "nats"), t.TempDir()}
}

func (n natsProgram) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, n.path, args...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+n.config)
	return cmd
}

// run runs nats and returns all that it printed.
func (n natsProgram) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(n.t.Context(), scratch.Patience())
	defer cancel()
	out, err := n.command(ctx, args...).CombinedOutput()
	return string(out), err
}

// watcher is one "nats sub" that runs.
type watcher struct {
	t       *testing.T
	process *exec.Cmd

	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write keeps what nats prints.
func (w *watcher) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(data)
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// watch starts "nats sub" and returns when it is subscribed.
func (n natsProgram) watch(args ...string) *watcher {
	n.t.Helper()
	w := &watcher{t: n.t, process: n.command(context.Background(), args...)}
	w.process.Stdout, w.process.Stderr = w, w
	if err := w.process.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = w.process.Process.Kill() // it would listen for ever
		_ = w.process.Wait()
	})
	w.await("Subscribing on")
	return w
}

func (w *watcher) await(text string) {
	w.t.Helper()
	for deadline := time.Now().Add(scratch.Patience()); !strings.Contains(w.String(), text); {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %q; nats has printed:\n%s", text, w)
		}
		<-time.After(10 * time.Millisecond) // only spares the processor
	}
}

// userOf returns a host as a user of somebody's nats-server, with the permissions that
// docs/how-to/use-an-existing-nats-system.md asks for.
func userOf(who string, alias protocol.Name) string {
	return fmt.Sprintf(`{%s, permissions: {publish: ["parley.demo.%s.>", "_INBOX.demo.>"], subscribe: ["parley.demo.>", "_INBOX.demo.%s.>"]}}`+"\n", who, alias, alias)
}

func (h *storyHost) publicKey() string {
	h.t.Helper()
	seed, err := os.ReadFile(filepath.Join(h.home.Keys(), "host.nk"))
	if err != nil {
		h.t.Fatal(err)
	}
	key, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		h.t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		h.t.Fatal(err)
	}
	return public
}

func (h *storyHost) untilUp() {
	h.t.Helper()
	h.until("the system is up", func() bool {
		peers := h.status().Bus.Peers
		return len(peers) == 1 && peers[0].Up
	})
}

// Two hosts meet on somebody else's server: one by its key, one by a context that the command line
// program of NATS made. That program reads along and cannot speak. The server is killed and comes
// back. Nothing is lost, and nothing comes twice.
func TestFleetOnAnExistingSystem(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	nats := newNatsProgram(t)
	srv := natstool.Prepare(t)
	remote := sharedRepository(t)
	a := newStoryHost(t, "white", "--fleet", "demo", "--remote", remote, "--bus-url", "nats://"+srv.Address)
	if out, err := nats.run("context", "add", "lab", "--server", "nats://"+srv.Address, "--user", "black", "--password", "se-cret"); err != nil {
		t.Fatal(err, out)
	}
	lab := filepath.Join(nats.config, "nats", "context", "lab.json")
	b := newStoryHost(t, "black", "--remote", remote, "--bus-context", lab)
	srv.Configure(t, "authorization {users: [\n"+userOf("user: black, password: \"se-cret\"", "black")+
		`{user: eve, password: listens, permissions: {subscribe: ["parley.>", "_INBOX.>"], publish: "eve.>"}}]}`+"\n")
	srv.Start(t)

	b.start()
	b.untilUp()
	if s := b.status().Bus; s.Context != lab || s.As != "with the user and password of the context" || strings.Contains(fmt.Sprintf("%+v", s)+b.must("status"), "se-cret") {
		t.Errorf("status of the bus: %+v", s)
	}
	a.start()
	a.until("status says that the key is not accepted", func() bool {
		s := a.must("status")
		return strings.Contains(s, "does not accept this host's key") && strings.Contains(s, a.publicKey()) && strings.Contains(s, "parley.demo.white.>")
	})
	srv.Configure(t, "authorization {users: [\n"+userOf("nkey: "+a.publicKey(), "white")+userOf("user: black, password: \"se-cret\"", "black")+
		`{user: eve, password: listens, permissions: {subscribe: ["parley.>", "_INBOX.>"], publish: "eve.>"}}]}`+"\n")
	srv.Reload(t)
	a.untilUp()

	eve := "nats://eve:listens@" + srv.Address
	w := nats.watch("--server", eve, "sub", "parley.>")
	a.must("agent", "add", "loud", "--exec", "tr a-z A-Z")
	b.until("white is here with its agent", func() bool { return strings.Contains(b.must("ls"), "loud") })
	b.until("white is live", func() bool { return strings.Contains(b.must("host", "list"), "live") })
	if out := b.must("wormhole", "white:loud", "--wait", "20s", "good morning"); strings.TrimSpace(out) != "GOOD MORNING" {
		t.Errorf("the agent answered %q", out)
	}
	if _, err := b.try("host", "probe", "white"); err == nil || !strings.Contains(err.Error(), "meet at an existing NATS system here, and do not dial each other") {
		t.Errorf("a probe where nobody is dialled: %v", err)
	}
	w.await("\n\nGOOD MORNING\n")
	for _, want := range []string{`Received on "parley.demo.black.wormhole.white.loud"`, "\nfrom: nat\nto: loud@white\n", "\nsig: "} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("nats sub did not print %q but:\n%s", want, w)
		}
	}
	if out, err := nats.run("--server", eve, "pub", "parley.demo.white.hey.loud", "forged"); !strings.Contains(strings.ToLower(out), "permissions violation") {
		t.Errorf("nats pub in the name of white: %v, %s", err, out)
	}

	srv.Stop()
	b.until("the break is seen", func() bool { return !b.status().Bus.Peers[0].Up })
	b.must("wormhole", "white:loud", "by git")
	a.until("git brings it", func() bool {
		b.must("wake") // pushes at once
		a.must("wake") // looks at the remote at once
		return strings.Contains(a.must("log", "--all", "--json"), `"BY GIT"`)
	})
	srv.Start(t)
	b.untilUp()
	a.untilUp()
	if out := b.must("wormhole", "white:loud", "--wait", "20s", "back"); strings.TrimSpace(out) != "BACK" {
		t.Errorf("after the restart the agent answered %q", out)
	}
	for i := range 12 { // messages are sent while the system comes and goes
		if i%4 == 1 {
			srv.Stop()
		}
		if i%4 == 3 {
			srv.Start(t)
		}
		[]*storyHost{a, b}[i%2].must("broadcast", fmt.Sprintf("word %d", i))
	}
	sameWords(t, a, b)
}

// sameWords checks that both hosts have the same messages, each once.
func sameWords(t *testing.T, a, b *storyHost) {
	t.Helper()
	words := func(h *storyHost) (paths, bodies []string) {
		for _, m := range h.log() {
			paths, bodies = append(paths, m.Path.String()), append(bodies, m.Body)
		}
		slices.Sort(paths)
		slices.Sort(bodies)
		return paths, bodies
	}
	a.until("both hosts have the same messages", func() bool {
		ours, _ := words(a)
		theirs, _ := words(b)
		return cmp.Equal(ours, theirs) && a.status().Record.Unpushed+b.status().Record.Unpushed == 0
	})
	paths, bodies := words(a)
	if once := slices.Compact(slices.Clone(paths)); len(once) != len(paths) {
		t.Errorf("some messages are there twice: %q", paths)
	}
	said := []string{"GOOD MORNING", "BY GIT", "BACK"}
	for i := range 12 {
		said = append(said, fmt.Sprintf("word %d", i))
	}
	for _, answer := range said {
		if n := len(slices.DeleteFunc(slices.Clone(bodies), func(s string) bool { return strings.TrimSpace(s) != answer })); n != 1 {
			t.Errorf("%q was said %d times", answer, n)
		}
	}
	for _, h := range []*storyHost{a, b} {
		h.must("record", "verify")
		h.stop()
	}
}

// Settings that cannot work are refused before anything is made, and at the start. The refusal has
// the setting's name and nothing secret.
func TestExistingSystemRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notCreds := filepath.Join(dir, "a.creds")
	if err := os.WriteFile(notCreds, []byte("SUASECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := newStoryHost(t, "white", "--bus-url", "nats://me:se-cret@127.0.0.1:1")
	h2 := &storyHost{t: t, home: h.home}
	h2.home.Dir = filepath.Join(dir, "home")
	for _, test := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--bus-url", "http://a"}, "--bus-url: this is not the URL of a NATS system"},
		{[]string{"--bus-creds", notCreds}, "--bus-creds: it is for an existing NATS system"},
		{[]string{"--bus-url", "nats://a", "--bus-creds", notCreds, "--bus-nkey", notCreds}, "2 ways to say who this host is, --bus-creds and --bus-nkey"},
		{[]string{"--bus-url", "nats://a", "--bus-creds", notCreds}, "holds no user JWT"},
		{[]string{"--bus-url", "nats://a", "--bus-nkey", filepath.Join(dir, "none")}, "cannot use --bus-nkey: there is no file"},
		{[]string{"--bus-context", "no-such-context"}, `cannot use --bus-context "no-such-context": there is no file`},
		{[]string{"--bus-url", "nats://a", "--listen", "127.0.0.1:0"}, "--bus-url: an existing NATS system takes the place of --listen, --advertise and --hub: set it or them"},
	} {
		_, err := h2.try(append([]string{"init", "--alias", "x"}, test.flags...)...)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "SUASECRET") {
			t.Errorf("%q: got %v, want %q", test.flags, err, test.want)
		}
		if _, err := os.Stat(h2.home.Config()); err == nil {
			t.Errorf("%q: a home was made", test.flags)
		}
	}
	if out := h.must("config", "show"); strings.Contains(out, "se-cret") || !strings.Contains(out, "nats://…@127.0.0.1:1") {
		t.Errorf("config show: %s", out)
	}
	text, err := os.ReadFile(h.home.Config())
	if err == nil {
		err = os.WriteFile(h.home.Config(), bytes.Replace(text, []byte("me:se-cret@127.0.0.1:1\"\n"), []byte("127.0.0.1:1\"\n"), 1), 0o600)
	}
	if err == nil {
		text, err = os.ReadFile(h.home.Config())
	}
	if err == nil {
		err = os.WriteFile(h.home.Config(), bytes.Replace(text, []byte(`creds: ""`), []byte("creds: "+notCreds), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := h.try("up"); err == nil || !strings.Contains(err.Error(), notCreds+" holds no user JWT") || !strings.Contains(err.Error(), "see bus in "+h.home.Config()) {
		t.Errorf("up: %v, %s", err, out)
	}
}

// A secret that other users can read works. A warning names it until that is mended.
func TestSecretThatOthersCanRead(t *testing.T) {
	t.Parallel()
	file, seed := newSeedFile(t)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	h := newStoryHost(t, "white", "--bus-url", "nats://127.0.0.1:1", "--bus-nkey", file)
	h.start()
	want := "warning: bus.nkey: other users of this machine can read the secret in " + file + "; run: chmod 600 " + file
	if s := h.must("status"); !strings.Contains(s, want) || strings.Contains(s, string(seed)) {
		t.Errorf("status does not warn:\n%s", s)
	}
	h.stop()
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	if s := h.must("status"); strings.Contains(s, "warning") {
		t.Errorf("status still warns:\n%s", s)
	}
	h.stop()
}

// newSeedFile returns the file of a key that no host has, and the seed in it.
func newSeedFile(t *testing.T) (file string, seed []byte) {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	if seed, err = key.Seed(); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, seed
}

package node

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// within bounds everything for which a test waits. It is long, because git alone brings an inquiry
// over two hosts in many steps, and because the race detector may be on while other packages are
// tested.
const within = 3 * time.Minute

// initHome makes a home with init, without the git program (see runNode).
func initHome(t testing.TB, change func(*homes.Options)) configs.Home {
	t.Helper()
	o := homes.Options{
		Home: configs.Home{Dir: filepath.Join(t.TempDir(), "home")}, Version: "test",
		Fleet: "demo", Alias: "oracle-world", Human: "nat", Log: zerolog.Nop(), Builtin: true,
	}
	if change != nil {
		change(&o)
	}
	if _, err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o.Home
}

// runNode opens the node of a home and runs it until stop, or the test's end. It fetches and pushes
// without the git program, whose processes would take half of the time of all tests.
func runNode(t testing.TB, home configs.Home) (n *Node, stop func()) {
	t.Helper()
	return runNodeWith(t, Options{Home: home, Version: "test", builtin: true})
}

// runNodeAt is runNode for a node with a clock of its own.
func runNodeAt(t testing.TB, home configs.Home, now func() time.Time) (n *Node, stop func()) {
	t.Helper()
	return runNodeWith(t, Options{Home: home, Version: "test", Now: now, builtin: true})
}

// runNodeWith is runNode with options of the test's own.
func runNodeWith(t testing.TB, o Options) (n *Node, stop func()) {
	t.Helper()
	o.Keeper = true
	o.Log = zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	n, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		cancel()
		n.Close()
		t.Fatalf("the node ended at once: %v", err)
	case <-time.After(scratch.Patience()):
		cancel()
		t.Fatalf("waited %s in vain until the node is up, at\n%s", scratch.Patience(), goroutines())
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := awaited(t, "the end of the node", ended); err != nil {
			t.Errorf("the node ended with: %v", err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("the node did not close: %v", err)
		}
	}
	t.Cleanup(stop)
	return n, stop
}

// bareRemote makes an empty shared repository.
func bareRemote(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shared.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--initial-branch=main", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}

// say sends a message as the human.
func say(t testing.TB, n control.Service, to, body string) control.Message {
	t.Helper()
	m, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{to}, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answerTo waits for the answer to a message.
func answerTo(t testing.TB, n control.Service, p protocol.Path) control.Message {
	t.Helper()
	m, err := control.Wait.Ask(t.Context(), n, control.WaitRequest{Re: p.String(), Within: within})
	if err != nil {
		way, _ := control.Trace.Ask(t.Context(), n, control.TraceRequest{Path: p.String(), Here: true})
		status, _ := control.ShowStatus.Ask(t.Context(), n)
		t.Fatalf("%v; its way: %+v; the node says %q, at\n%s", err, way, status.Warned, goroutines())
	}
	return m
}

func addExec(t testing.TB, n control.Service, name, command string) {
	t.Helper()
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: name, Exec: command}); err != nil {
		t.Fatal(err)
	}
}

// everything is the whole record as the node sees it.
func everything(t *testing.T, n control.Service) []control.Message {
	t.Helper()
	var all []control.Message
	err := control.Log.Ask(t.Context(), n, control.LogRequest{Everything: true}, func(m control.Message) error {
		all = append(all, m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// eventually asks again and again until so returns true. The pauses only save processor time.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	patience := scratch.Patience()
	deadline := time.Now().Add(patience)
	for pause := 2 * time.Millisecond; !so(); pause = min(pause*5/4, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain until %s", patience, what)
		}
		<-time.After(pause)
	}
}

// awaited returns what comes next by a channel.
func awaited[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	patience := scratch.Patience()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("waited %s in vain for %s, at\n%s", patience, what, goroutines())
		panic("not reached")
	}
}

// goroutines says where all goroutines are, for a wait that may not come again.
func goroutines() string {
	stacks := make([]byte, 1<<20)
	return string(stacks[:runtime.Stack(stacks, true)])
}

// cloneOf makes a work tree of the shared repository, as a participant with plain git has it.
func cloneOf(t testing.TB, remote string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, filepath.Dir(dir), "clone", "--quiet", "--no-local", remote, dir)
	git(t, dir, "config", "user.name", "alice")
	git(t, dir, "config", "user.email", "alice@example.org")
	return dir
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// plainMail commits a message as somebody writes it with a text editor. stamp has the form
// 20060102T150405000.
func plainMail(t *testing.T, clone, channel, stamp, from, to, body string) protocol.Path {
	t.Helper()
	at, err := time.Parse("20060102T150405.000", stamp[:15]+"."+stamp[15:])
	if err != nil {
		t.Fatal(err)
	}
	id, err := protocol.ParseChannelID(channel)
	if err != nil {
		t.Fatal(err)
	}
	p := protocol.NewPath(id, at, 0xa11ce)
	file := filepath.Join(clone, filepath.FromSlash(p.RepoPath()))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "---\nfrom: " + from + "\nto: " + to + "\ntype: text\ntimestamp: " + at.Format(protocol.TimestampLayout) + "\n---\n\n" + body + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "add", ".")
	git(t, clone, "commit", "--quiet", "-m", "mail")
	return p
}

// push brings commits of a clone to the shared repository. It tries again when the node's own
// pushes get in between.
func push(t testing.TB, clone string) {
	t.Helper()
	eventually(t, "the push is taken", func() bool {
		git(t, clone, "pull", "--quiet", "--rebase")
		cmd := exec.Command("git", "push", "--quiet")
		cmd.Dir = clone
		return cmd.Run() == nil
	})
}

package caller

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func wantKind(t *testing.T, b *Book, d dialler, kind control.CallerKind, name, how string) {
	t.Helper()
	got, err := b.Judge(control.Calling{Peer: d.peer})
	if err != nil || got.Kind != kind || got.Name.String() != name || !strings.Contains(got.How, how) {
		t.Errorf("%+v, %v; want %s %q known by %q", got, err, kind, name, how)
	}
}

// wantEnded checks that nothing is answered on the connection of a process that has ended.
func wantEnded(t *testing.T, b *Book, d dialler) {
	t.Helper()
	by, err := b.Judge(control.Calling{Peer: d.peer})
	wantRefused(t, err, "that opened this connection has ended")
	if by.Name != "" {
		t.Errorf("it is taken for %+v", by)
	}
}

// atTerminal starts the program in a session of its own, at a terminal of its own.
func atTerminal(t *testing.T) func(path string, env []string) *exec.Cmd {
	return func(path string, env []string) *exec.Cmd {
		ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		if err != nil {
			t.Skip("there are no terminals here: ", err)
		}
		t.Cleanup(func() { ptmx.Close() })
		n, err := unix.IoctlGetInt(int(ptmx.Fd()), unix.TIOCGPTN)
		if err == nil {
			err = unix.IoctlSetPointerInt(int(ptmx.Fd()), unix.TIOCSPTLCK, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tty.Close() })
		cmd := direct(path, env)
		cmd.ExtraFiles = []*os.File{tty}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
		return cmd
	}
}

// It prevents: a child of an agent's command opens a connection and ends, and another process that
// holds the connection speaks by it as the human. A terminal does not help: what stood above the
// child is kept. What a person's program has left at a terminal is unattended.
func TestOpenerThatEnded(t *testing.T) {
	for _, test := range []struct {
		name  string
		start func(path string, env []string) *exec.Cmd
		agent bool
		left  bool // the connection is taken for one that a person's program has left
	}{
		{name: "without a terminal", start: direct},
		{name: "an agent's, without a terminal", start: direct, agent: true},
		{name: "an agent's, at a terminal", start: atTerminal(t), agent: true},
		{name: "at a terminal", start: atTerminal(t), left: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := book(nil)
			b.above = map[process.ID]bool{b.self: true} // as if this test had started node and caller
			b.self = process.ID{}
			d := dial(t, test.start)
			if test.agent {
				b.Begin("mawjs", letter(1), time.Minute).Began(d.pid)
			}
			d.end()
			if test.left {
				wantKind(t, b, d, control.Unattended, "nat", "has ended")
				return
			}
			wantEnded(t, b, d)
		})
	}
}

// A process that this node starts for no run belongs to nobody. A process that a run starts belongs
// to the run's agent while the run is under way.
func TestSeenBeneath(t *testing.T) {
	b := book(nil)
	d := dial(t, direct)
	wantKind(t, b, d, control.ByAgent, "", "which this node has started for something else")
	r := b.Begin("mawjs", letter(1), time.Minute)
	r.Began(d.pid)
	wantKind(t, b, d, control.ByAgent, "mawjs", "the ancestors of process")
	d.end()
	wantEnded(t, b, d)
}

// The number of a process that has ended may belong to another process by now.
func TestNumberIsUsedAgain(t *testing.T) {
	b := book(nil)
	d := dial(t, direct)
	b.Begin("mawjs", letter(1), time.Minute).Began(d.pid)
	d.peer.ID = process.ID{PID: os.Getppid(), Start: d.peer.Start}
	wantEnded(t, b, d)
}

// orphan starts the program so that its parent ends at once, in a session of its own.
func orphan(path string, env []string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", `exec 3<&0; setsid "$0" <&3 & exit 0`, path)
	cmd.Env = env
	return cmd
}

// An orphan that no run has left is the operator's: people have programs without a parent too. But
// if somebody has ended the keeper of a run, an orphan that began since may be of that run, and
// nobody can tell.
func TestOrphans(t *testing.T) {
	b := book(nil)
	b.above = map[process.ID]bool{} // where the test itself runs does not matter
	if first, err := process.Find(1); err == nil {
		b.above[first] = true
	}
	r := b.Begin("mawjs", letter(1), time.Minute)
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	r.Began(sleeper.Process.Pid)
	d := dial(t, orphan)
	chain, err := process.Ancestry(d.peer.PID)
	if err != nil || len(chain) < 2 || chain[1].PID != 1 {
		t.Skipf("orphans do not become children of process 1 here: %v", chain)
	}
	wantKind(t, b, d, control.Operator, "nat", "which no agent has started")
	// While the end of the keeper is not noted yet, a caller waits to hear how it ended.
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleeper.Wait()
	asked, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		close(asked)
		wantKind(t, b, d, control.Unattended, "nat", "whose keeper was ended")
	}()
	<-asked
	r.End(true)
	<-told
	wantKind(t, b, d, control.Unattended, "nat", "whose keeper was ended")
}

// In a container the node is often process 1. It prevents: there, a person's program that has lost
// its parent is taken for an agent.
func TestOrphansOfTheNode(t *testing.T) {
	b := book(nil)
	first, err := process.Find(1)
	if err != nil {
		t.Skip("process 1 cannot be seen here")
	}
	b.self, b.above = first, map[process.ID]bool{}
	d := dial(t, orphan)
	if chain, err := process.Ancestry(d.peer.PID); err != nil || len(chain) < 2 || chain[1] != first {
		t.Skipf("orphans do not become children of process 1 here: %v", chain)
	}
	wantKind(t, b, d, control.Unattended, "nat", "without a parent or started by this node")
}

// A keeper that has ended because it had nothing left to do was not ended by somebody. It prevents:
// a call in between is taken for unattended.
func TestKeeperThatIsDone(t *testing.T) {
	b := book(nil)
	b.above = map[process.ID]bool{b.self: true} // as if this test had started node and caller
	b.self = process.ID{}
	r := b.Begin("mawjs", letter(1), time.Minute)
	done := exec.Command("cat")
	in, err := done.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := done.Start(); err != nil {
		t.Fatal(err)
	}
	r.Began(done.Process.Pid)
	d := dial(t, direct)
	in.Close()
	if err := done.Wait(); err != nil {
		t.Fatal(err)
	}
	if headless := b.headless(d.peer.Start); len(headless) != 1 {
		t.Fatalf("runs whose keeper has ended: %d, want 1", len(headless))
	}
	go r.End(false)
	wantKind(t, b, d, control.Operator, "nat", "which no agent has started")
}

// The keeper of a run is seen if it belongs to another node, or to an earlier start of this node.
func TestStrangersKeeper(t *testing.T) {
	b := book(nil)
	b.self = process.ID{} // as if the keeper were another node's
	d := dial(t, func(path string, env []string) *exec.Cmd {
		cmd := exec.Command(path)
		cmd.Env = append(env, keptVar+"=1")
		return cmd
	})
	wantKind(t, b, d, control.ByAgent, "", "beneath the keeper")
}

// keepDialler runs this test binary as a dialler beneath a keeper.
func keepDialler() int {
	var keepers keeper.Pool
	defer keepers.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), keptVar+"=")
	k, err := keepers.Start(keeper.Command{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Environ(), Files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr},
	}, func(int) {})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	<-k.Ended()
	k.Kill()
	k.Release()
	return 0
}

// A process that calls again on one connection is not looked up again while it runs, if it was of
// no run. Nothing is remembered of a process that has ended, or of a run.
func TestRemembered(t *testing.T) {
	b := book(nil)
	b.above = map[process.ID]bool{b.self: true} // as if this test had started node and caller
	b.self = process.ID{}
	agents := dial(t, direct)
	r := b.Begin("mawjs", letter(1), time.Minute)
	r.Began(agents.pid)
	wantKind(t, b, agents, control.ByAgent, "mawjs", "the ancestors of process")
	if top, ok := agents.peer.Remembered(0); ok {
		t.Errorf("of a process of a run %v is remembered", top)
	}
	d := dial(t, direct)
	for range 2 {
		wantKind(t, b, d, control.Operator, "nat", "which no agent has started")
	}
	if top, ok := d.peer.Remembered(0); !ok || top != d.peer.ID {
		t.Errorf("remembered is %v, %v; want the process itself", top, ok)
	}
	// The state that the processes themselves do not show is asked for again.
	b.loosen(process.ID{PID: 1, Start: 1})
	wantKind(t, b, d, control.Unattended, "nat", "whose keeper was ended")
	d.end()
	wantEnded(t, b, d)
}

// What was remembered of an open connection does not outlast the registering or the end of a session.
// It prevents: a shell that was open before goes on as the operator beneath a session.
func TestRememberedUntilSessionsChange(t *testing.T) {
	b := book(nil)
	b.above = map[process.ID]bool{b.self: true} // as if this test had started node and caller
	b.self = process.ID{}
	sessions := &seatsOf{}
	b.o.Seats = sessions
	d := dial(t, direct)
	wantKind(t, b, d, control.Operator, "nat", "which no agent has started")
	sessions.process, sessions.version = d.peer.ID, 1
	wantKind(t, b, d, control.ByAgent, "volt", "the session of process")
	sessions.process, sessions.version = process.ID{}, 2
	wantKind(t, b, d, control.Operator, "nat", "which no agent has started")
}

// What has lost its parent while a session lived may be left of it: without a terminal, or with the
// session's from its start. It prevents: a person's new window, to which the system gives the number of
// a terminal that a session had, counts as what that session has left.
func TestLeftOfASession(t *testing.T) {
	b := book(nil)
	b.o.Seats = &seatsOf{lived: true}
	top, err := process.Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	own := process.Terminal(top.PID)
	for _, c := range []struct {
		orphan   bool
		terminal int
		want     bool
	}{{true, 0, true}, {false, 0, false}, {true, own, true}, {true, own + 1, false}} {
		if got := b.left(top, c.orphan, c.terminal); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// seatsOf is one session of volt, which the test registers and ends.
type seatsOf struct {
	process process.ID
	version uint64
	lived   bool
}

func (s *seatsOf) At(p, _ process.ID, _ string) (protocol.Name, bool) {
	return "volt", p == s.process
}
func (s *seatsOf) Carries(process.ID) protocol.Name { return "" }
func (s *seatsOf) Lived(uint64, int) bool           { return s.lived }
func (s *seatsOf) Version() uint64                  { return s.version }

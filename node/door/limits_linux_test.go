package door

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/keeper"
	processes "github.com/parleyfleet/parley/internal/process"
)

// limited returns a script of the shell beneath a keeper, with limits.
func limited(t *testing.T, l keeper.Limits, script string, args ...string) Command {
	c := kept(t, Command{Argv: append([]string{"/bin/sh", "-c", script}, args...)})
	c.Limits = l
	return c
}

// wantLimited checks that a limit ended a command.
func wantLimited(t *testing.T, got Result, problem string) {
	t.Helper()
	if got.Failure != Limited || got.Problem() != problem || got.Left {
		t.Errorf("%+v says %q, want %q", got, got.Problem(), problem)
	}
}

// Limits are set before the first instruction of the command, and hold for what it starts.
func TestLimitsAreSet(t *testing.T) {
	all := keeper.Limits{Nice: 7, Memory: 1 << 30, CPU: 90 * time.Second, Files: 40}
	const look = "nice; ulimit -S -d; ulimit -S -t; ulimit -H -n"
	if got := runToEnd(t, limited(t, all, look)); got.Output != "7\n1048576\n90\n40" {
		t.Errorf("%+v", got)
	}
	if got := runToEnd(t, limited(t, all, "sh -c '"+look+"'")); got.Output != "7\n1048576\n90\n40" {
		t.Errorf("what it starts: %+v", got)
	}
	// A keeper that goes on has none of these limits, and neither has its next command.
	c := limited(t, all, "ulimit -H -n; ulimit -H -d; ulimit -H -t; nice")
	_ = runToEnd(t, c)
	c.Limits = keeper.Limits{}
	alone := Command{Argv: c.Argv}
	if got, want := runToEnd(t, c), runToEnd(t, alone); got.Output != want.Output || got.Failure != None {
		t.Errorf("the next command has %q, want %q", got.Output, want.Output)
	}
	// A limit never gives more than there was.
	c = limited(t, keeper.Limits{Files: 1 << 30}, "ulimit -H -n")
	if got, want := runToEnd(t, c), runToEnd(t, Command{Argv: c.Argv}); got.Output != want.Output {
		t.Errorf("files are raised from %s to %s", want.Output, got.Output)
	}
}

// A command with limits fails to start in the same way as one without limits.
func TestLimitedNotStarted(t *testing.T) {
	for _, argv := range [][]string{{"/nowhere/at-all"}, {"/dev/null"}} {
		c := kept(t, Command{Argv: argv})
		want := runToEnd(t, c)
		c.Limits.Nice = 5
		got := runToEnd(t, c)
		got.Elapsed, want.Elapsed = 0, 0
		if got != want || got.Failure != NotStarted {
			t.Errorf("%v: %+v, want %+v", argv, got, want)
		}
	}
}

func TestLimitOfCPU(t *testing.T) {
	t.Parallel()
	busy := keeper.Limits{CPU: time.Second}
	const problem = "ended: used more than 1s of processor time"
	wantLimited(t, runToEnd(t, limited(t, busy, "while :; do :; done")), problem)
	wantLimited(t, runToEnd(t, limited(t, busy, "sh -c 'while :; do :; done'; exit $?")), problem)
	// A process that ignores the signal is ended by the next signal.
	wantLimited(t, runToEnd(t, limited(t, busy, "trap '' XCPU; while :; do :; done")), problem)
	// A process that has little to do is not ended, however long it takes.
	if got := runToEnd(t, limited(t, busy, "sleep 1.2; echo done")); got.Output != "done" || got.Failure != None {
		t.Errorf("%+v", got)
	}
}

// Each process of a crowd uses less than the limit, and all of them use more. A control group
// counts them together, if there is one.
func TestLimitOfCPUOfAll(t *testing.T) {
	c := limited(t, keeper.Limits{CPU: time.Second}, "for i in 1 2 3; do sh -c 'while :; do sh -c \"for j in 1 2 3 4 5 6 7 8; do :; done\"; done' & done; wait; echo done")
	c.Run = inGroup(t, "crowd")
	wantLimited(t, runToEnd(t, c), "ended: used more than 1s of processor time")
}

// inGroup returns the name of a command's control group, if this process may make one.
func inGroup(t *testing.T, name string) string {
	t.Helper()
	name = fmt.Sprintf("%s%d", name, os.Getpid())
	probe := keeper.NewGroup("probe-"+name, keeper.Limits{})
	if probe == nil {
		t.Skip("this process may not make control groups")
	}
	probe.Remove()
	return name
}

func TestLimitOfMemory(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	const script = `exec python3 -c "x = bytearray($0 << 20); print(len(x) >> 20)"`
	l := keeper.Limits{Memory: 200 << 20}
	if got := runToEnd(t, limited(t, l, script, "64")); got.Output != "64" || got.Failure != None {
		t.Errorf("within its limit: %+v", got)
	}
	got := runToEnd(t, limited(t, l, script, "400"))
	if !strings.HasSuffix(got.Problem(), "MemoryError (its limit: 200 MiB of memory)") {
		t.Errorf("above its limit: %+v says %q", got, got.Problem())
	}
	// In a control group that can be limited, the whole group is ended.
	c := limited(t, l, script, "400")
	c.Run = inGroup(t, "memory")
	probe := keeper.NewGroup("sets-"+c.Run, l)
	limits := probe.SetsAll(l)
	probe.Remove()
	if got := runToEnd(t, c); limits {
		wantLimited(t, got, "ended: used more than 200 MiB of memory")
	} else if got.Limit == "" {
		t.Errorf("in a group without limits: %+v", got)
	}
}

func TestLimitOfFiles(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	got := runToEnd(t, limited(t, keeper.Limits{Files: 32}, `exec python3 -c "x = [open('/dev/null') for i in range(64)]"`))
	if got.Limit != "32 open files" {
		t.Errorf("%+v", got)
	}
}

// Root's own processes can be limited by a control group alone. Without such a group the command is
// not started.
func TestLimitOfProcesses(t *testing.T) {
	l := keeper.Limits{Processes: 30}
	c := limited(t, l, "for i in $(seq 60); do sleep 60 & done; echo all")
	c.Dir, c.Grace, c.Run = "/", 20*time.Millisecond, inGroup(t, "processes")
	if os.Geteuid() == 0 && l.Check(nil) != nil {
		if got := runToEnd(t, c); got.Failure != NotStarted || !strings.Contains(got.Detail, "the processes of root can be limited in a control group alone") {
			t.Errorf("root's processes cannot be counted: %+v", got)
		}
		if os.Getenv("PARLEY_ROOT_TESTS") == "" {
			t.Skip("it needs PARLEY_ROOT_TESTS=1 to run as another user")
		}
		c.User, c.Bare, c.Env = &keeper.User{UID: 54321, GID: 54321}, true, []string{"PATH=/usr/bin:/bin"}
	}
	got := runToEnd(t, c)
	if got.Limit != "30 processes" || strings.Contains(got.Output, "all") || got.Left {
		t.Errorf("%+v", got)
	}
}

func TestNoNetwork(t *testing.T) {
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Geteuid() != 0 {
		t.Skip("it needs root and PARLEY_ROOT_TESTS=1")
	}
	s := newSwitchboard(t)
	const look = "grep -c : /proc/net/dev; exec bash -c '</dev/tcp/${0%:*}/${0##*:}' $0"
	address := s.listener.Addr().String()
	if got := runToEnd(t, limited(t, keeper.Limits{}, look, address)); got.Failure != None {
		t.Fatalf("with a network: %+v", got)
	}
	got := runToEnd(t, limited(t, keeper.Limits{NoNetwork: true, Nice: 3}, look, address))
	if got.Failure != ExitStatus || !strings.Contains(got.Stderr, "unreachable") || got.Output != "1" {
		t.Errorf("without a network: %+v", got)
	}
	// As another user, the command has no network either, and cannot get one.
	c := limited(t, keeper.Limits{NoNetwork: true}, "nsenter --net=/proc/1/ns/net true 2>&1; "+look, address)
	c.User, c.Dir, c.Bare, c.Env = &keeper.User{UID: 65534, GID: 65534}, "/", true, []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	if got := runToEnd(t, c); got.Failure != ExitStatus || !strings.Contains(got.Stderr, "unreachable") {
		t.Errorf("as nobody: %+v", got)
	}
}

// The node, and its keeper, are ended with kill -9. A process that has left its session and its
// parent ends with them, at once or when the node starts anew.
func TestOrphansOfAKilledNode(t *testing.T) {
	s := newSwitchboard(t)
	node := func(run string) (*exec.Cmd, call) {
		cmd := exec.Command(s.self)
		cmd.Env = append(cmd.Environ(), append(s.command("node").Env, keptVar+"=runaway-parent", runVar+"="+run)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, s.answer()
	}
	send := func(pid int, s syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
	killed, runaway := node("")
	send(killed.Process.Pid, syscall.SIGKILL)
	runaway.wantDead(t)
	_ = killed.Wait() // it was killed, and Wait calls that an error

	run := inGroup(t, "orphan")
	killed, runaway = node(run + "-1")
	send(killed.Process.Pid, syscall.SIGSTOP) // otherwise it sees that its keeper ends first
	keepers := processes.Children(killed.Process.Pid)
	for len(keepers) == 1 && !slices.Contains(processes.Children(keepers[0]), runaway.pid) {
		runtime.Gosched() // its parent still lives
	}
	for _, pid := range append(keepers, killed.Process.Pid) {
		send(pid, syscall.SIGKILL)
	}
	_ = killed.Wait() // as above
	if len(keepers) != 1 || syscall.Kill(runaway.pid, 0) != nil {
		t.Fatalf("keepers %v; the orphan lives: %v", keepers, syscall.Kill(runaway.pid, 0) == nil)
	}
	keeper.EndLeft("somebody-else-")
	if syscall.Kill(runaway.pid, 0) != nil {
		t.Error("another node has ended it")
	}
	keeper.EndLeft(run)
	runaway.wantDead(t)
	again := keeper.NewGroup(run+"-1", keeper.Limits{})
	if again == nil {
		t.Fatal("its control group is still there")
	}
	again.Remove()
}

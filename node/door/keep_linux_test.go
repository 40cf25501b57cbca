package door

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/keeper"
	processes "github.com/parleyfleet/parley/internal/process"
	"golang.org/x/sys/unix"
)

// kept returns a command beneath a keeper of its own.
func kept(t *testing.T, c Command) Command {
	c.Keepers = &keeper.Pool{}
	t.Cleanup(c.Keepers.Close)
	return c
}

// A keeper in between changes nothing about what comes of a command.
func TestKeptIsAsAlone(t *testing.T) {
	s := newSwitchboard(t)
	wantResult(t, Result{Output: "echoed"}, runToEnd(t, kept(t, Command{Argv: []string{"cat"}, Stdin: []byte("echoed\n")})))
	wantResult(t, Result{Output: "true true a b"}, runToEnd(t, kept(t, s.command("parentage", "a b"))))
	wantResult(t, Result{Failure: ExitStatus, ExitCode: 7, Stderr: "first\nno luck"}, runToEnd(t, kept(t, s.command("complain", "7"))))
	wantResult(t, Result{Failure: Signal, ExitCode: -1, Detail: "killed"}, runToEnd(t, kept(t, s.command("die"))))
	wantResult(t, Result{Failure: Empty}, runToEnd(t, kept(t, Command{Argv: []string{"true"}})))
	for _, argv := range [][]string{{"/nowhere/at-all"}, {"/dev/null"}} {
		alone, beneath := runToEnd(t, Command{Argv: argv}), runToEnd(t, kept(t, Command{Argv: argv}))
		alone.Elapsed, beneath.Elapsed = 0, 0
		if beneath != alone || beneath.Failure != NotStarted {
			t.Errorf("%v: beneath a keeper %+v, alone %+v", argv, beneath, alone)
		}
	}
}

// One keeper runs one command after another. Nothing of a command is there for the next one.
func TestKeeperGoesOn(t *testing.T) {
	t.Parallel()
	s := newSwitchboard(t)
	var keepers keeper.Pool
	t.Cleanup(keepers.Close)
	roots := map[int]int{}
	for i := range 3 {
		c := s.command("runaway-parent")
		c.Keepers, c.Grace = &keepers, 20*time.Millisecond
		c.Began = func(pid int) { roots[pid]++ }
		_, result := inBackground(t, c)
		runaway := s.answer()
		wantResult(t, Result{Output: "hi"}, <-result)
		runaway.wantDead(t)
		failed := Command{Argv: []string{"/nowhere/at-all"}, Keepers: &keepers}
		if got := runToEnd(t, failed); got.Failure != NotStarted {
			t.Errorf("round %d: %+v", i, got)
		}
	}
	if len(roots) != 1 {
		t.Errorf("%d keepers for commands one after another: %v", len(roots), roots)
	}
	for pid := range roots { // somebody ends the keeper while it waits: the next command has another keeper
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for alive := true; alive; {
			state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			alive = err == nil && !strings.Contains(string(state), ") Z ")
		}
	}
	if got := runToEnd(t, Command{Argv: []string{"echo", "on"}, Keepers: &keepers}); got.Output != "on" || got.Left {
		t.Errorf("after its keeper was ended: %+v", got)
	}
}

// A command beneath a keeper may stop and continue, and is given time or refused it, as a command
// without a keeper.
func TestKeptGrace(t *testing.T) {
	s := newSwitchboard(t)
	s.wantCanceled(kept(t, s.command("polite")), true, "bye")
	c := kept(t, s.command("stubborn"))
	c.Grace = 30 * time.Millisecond
	s.wantCanceled(c, false, "")
}

// It prevents: a process that moved to a session of its own and lost its parent goes on after its
// run, and nobody knows any more to whom it belongs.
func TestKeptRunawayEndsWithItsRun(t *testing.T) {
	s := newSwitchboard(t)
	c := kept(t, s.command("runaway-parent"))
	c.Grace = 20 * time.Millisecond
	s.wantLeftoverEnded(c)
}

// An orphan in a session of its own has its run's keeper among its ancestors.
func TestKeptOrphanIsKnown(t *testing.T) {
	t.Parallel()
	s := newSwitchboard(t)
	root := make(chan int, 1)
	c := kept(t, s.command("runaway-parent"))
	c.Grace, c.Began = time.Second, func(pid int) { root <- pid }
	_, result := inBackground(t, c)
	runaway := s.answer()
	chain, err := processes.Ancestry(runaway.pid)
	if err != nil {
		t.Fatal(err)
	}
	pid, found := <-root, false
	for _, p := range chain {
		found = found || p.PID == pid && keeper.Asked(processes.Arguments(p.PID))
	}
	if !found {
		t.Errorf("the keeper %d is not among the ancestors %v", pid, chain)
	}
	<-result
}

// It prevents: after kill -9 of the node, what its commands had started goes on.
func TestKeptNodeKilled(t *testing.T) {
	s := newSwitchboard(t)
	node := exec.Command(s.command("node").Argv[0])
	node.Env = append(node.Environ(), append(s.command("node").Env, keptVar+"=family")...)
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	first, second := s.answer(), s.answer()
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait() // it was killed, and Wait calls that an error
	first.wantDead(t)
	second.wantDead(t)
}

// A process that ends the keeper of its run lets the run's orphans go. The node has to know that,
// or it takes them for its operator's. A keeper that is stopped holds nobody up.
func TestKeeperEnded(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		s := newSwitchboard(t)
		root := make(chan int, 1)
		c := kept(t, s.command("hold"))
		c.Began = func(pid int) { root <- pid }
		cancel, result := inBackground(t, c)
		held := s.answer()
		if err := syscall.Kill(<-root, signal); err != nil {
			t.Fatal(err)
		}
		if signal == syscall.SIGSTOP {
			cancel()
		}
		if got := <-result; got.Left != (signal == syscall.SIGKILL) {
			t.Errorf("after %s something may be left: %v", signal, got.Left)
		}
		held.wantDead(t)
	}
}

// It prevents: a program that has ended its first thread and lives on in another looks like one
// that has ended, and is not ended.
func TestKeptWithoutItsFirstThread(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	c := kept(t, Command{Argv: []string{python, "-c", `
import ctypes, signal, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).pthread_exit(None)
`}, Timeout: time.Second, Grace: 20 * time.Millisecond})
	if got := runToEnd(t, c); got.Failure != TimedOut || got.Left {
		t.Errorf("it ended with %+v", got)
	}
}

// A control group knows what belongs to a run even if the run's keeper was ended.
func TestControlGroup(t *testing.T) {
	t.Parallel()
	probe := keeper.NewGroup("probe"+fmt.Sprint(os.Getpid()), keeper.Limits{})
	if probe == nil {
		t.Skip("this process may not make control groups")
	}
	probe.Remove()
	s := newSwitchboard(t)
	root := make(chan int, 1)
	c := kept(t, s.command("runaway-parent"))
	c.Run, c.Began = fmt.Sprintf("test%d", os.Getpid()), func(pid int) { root <- pid }
	_, result := inBackground(t, c)
	runaway := s.answer()
	if got := keeper.RunOf(fmt.Sprint(runaway.pid)); got != c.Run {
		t.Errorf("the process is in the control group of %q, want %q", got, c.Run)
	}
	if err := syscall.Kill(<-root, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Nothing is left here. But a process that runs as this user could have left the group first.
	if got := <-result; !got.Left {
		t.Error("nothing can be left, although who ended the keeper could leave its control group")
	}
	runaway.wantDead(t)
}

// A command gets no file that the program that started the node had open. It prevents: a command
// that runs as another user reads through it what that user may not open.
func TestKeptGetsNoFiles(t *testing.T) {
	inherited, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	if _, err := unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0); err != nil { // as a file that came with the start
		t.Fatal(err)
	}
	file := fmt.Sprintf("/proc/self/fd/%d", inherited.Fd())
	if got := runToEnd(t, kept(t, Command{Argv: []string{"/bin/sh", "-c", "test ! -e $0 && echo none", file}})); got.Output != "none" {
		t.Errorf("the command has the file: %+v", got)
	}
}

// A command of another user writes its answer into a file. It reads nothing of the node's
// environment, and owns its standard files.
func TestKeptOtherUser(t *testing.T) {
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Geteuid() != 0 {
		t.Skip("it needs root and PARLEY_ROOT_TESTS=1")
	}
	t.Setenv("SECRET_OF_THE_NODE", "hush")
	t.Setenv("TMPDIR", "/tmp") // others may pass there
	nobody := &keeper.User{UID: 65534, GID: 65534}
	c := kept(t, Command{Argv: []string{"/bin/sh", "-c", "id -u; id -G; echo \"secret:$SECRET_OF_THE_NODE\" > /dev/stdout; cat /proc/1/environ >/dev/null || echo closed"}})
	c.User, c.Dir, c.Bare, c.Env = nobody, "/", true, []string{"PATH=/usr/bin:/bin"}
	if got := runToEnd(t, c); got.Output != "65534\n65534\nsecret:\nclosed" {
		t.Errorf("as nobody: %+v", got)
	}
	c.Argv, c.Placeholders = []string{"/bin/sh", "-c", "echo written > $0", OutputPlaceholder}, true
	if got := runToEnd(t, c); got.Output != "written" {
		t.Errorf("the answer's file: %+v", got)
	}
	// The command can put a link to a file of the node's user in the file's place.
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hush"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, trick := range []string{"ln -s " + secret + " $0", "mv ${0%/*} ${0%/*}x && ln -s " + filepath.Dir(secret) + " ${0%/*}"} {
		c.Argv[2] = trick
		if got := runToEnd(t, c); strings.Contains(got.Output, "hush") || got.Failure == None {
			t.Errorf("%s: %+v", trick, got)
		}
	}
}

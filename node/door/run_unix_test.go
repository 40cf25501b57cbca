//go:build linux || darwin

package door

import (
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRunSignal(t *testing.T) {
	got := runToEnd(t, newSwitchboard(t).command("die"))
	wantResult(t, Result{Failure: Signal, ExitCode: -1, Detail: "killed"}, got)
	if want := "the command was ended by a signal (killed)"; got.Problem() != want {
		t.Errorf("problem %q, want %q", got.Problem(), want)
	}
}

func TestRunOwnSession(t *testing.T) {
	wantResult(t, Result{Output: "true true a b"}, runToEnd(t, newSwitchboard(t).command("parentage", "a b")))
}

func TestRunGrace(t *testing.T) {
	s := newSwitchboard(t)
	s.wantCanceled(s.command("polite"), false, "bye")
	c := s.command("stubborn")
	c.Grace = 30 * time.Millisecond
	s.wantCanceled(c, false, "")
}

// wantCanceled cancels a command that runs, or that was stopped (SIGSTOP). It checks what the
// command printed, and that it ended.
func (s switchboard) wantCanceled(c Command, stopped bool, output string) {
	s.t.Helper()
	cancel, result := inBackground(s.t, c)
	called := s.answer()
	if stopped {
		if err := syscall.Kill(called.pid, syscall.SIGSTOP); err != nil {
			s.t.Fatal(err)
		}
	}
	cancel()
	wantResult(s.t, Result{Failure: Canceled, ExitCode: -1, Output: output}, <-result)
	called.wantDead(s.t)
}

// A command that is stopped (SIGSTOP) ends all the same, by its own handler.
func TestRunStopped(t *testing.T) {
	s := newSwitchboard(t)
	s.wantCanceled(s.command("polite"), true, "bye")
}

// A process that moved to a session of its own is not for the node to end, and must not hang the
// node.
func TestRunRunaway(t *testing.T) {
	t.Parallel()
	s := newSwitchboard(t)
	c := s.command("runaway-parent")
	c.Grace = 20 * time.Millisecond
	_, result := inBackground(t, c)
	runaway := s.answer()
	wantResult(t, Result{Output: "hi"}, <-result)
	if err := syscall.Kill(runaway.pid, syscall.SIGKILL); err != nil {
		t.Errorf("the runaway was ended: %v", err)
	}
	runaway.wantDead(t)
}

func TestRunOtherPrograms(t *testing.T) {
	for _, test := range []struct {
		line, stdin, want string
	}{
		{"cat", "a letter\n", "a letter"},
		{"sh -c 'read x; echo \"$x$x\"'", "ab\n", "abab"},
		{"bc -l", "2^10\n", "1024"},
		{"jq -r .name", `{"name": "ψ"}`, "ψ"},
		{"python3 -c 'import sys; print(sys.stdin.read().upper())'", "loud", "LOUD"},
	} {
		argv, err := SplitCommand(test.line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(argv[0]); err != nil {
			t.Logf("%s is not installed and not tried", argv[0])
			continue
		}
		wantResult(t, Result{Output: test.want}, runToEnd(t, Command{Argv: argv, Stdin: []byte(test.stdin)}))
	}
}

// A node that was stopped (SIGSTOP) until after the timeout of its runs takes the answers of those
// that had ended in time. The others have the rest of their time. It prevents: the answer is thrown
// away, and the run is paid again.
func TestANodeThatWasStopped(t *testing.T) {
	t.Parallel()
	s := newSwitchboard(t)
	node := exec.Command(s.self)
	node.Env = append(node.Environ(), s.command("stopped-node").Env...)
	var said strings.Builder
	node.Stdout = &said
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	var agents [stoppedRuns]call
	for i := range agents {
		agents[i] = s.answer()
	}
	if err := node.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	past := time.After(stoppedTimeout + time.Second/2)
	half := stoppedRuns / 2
	for _, agent := range agents[:half] {
		agent.Conn.(*net.TCPConn).CloseWrite()
		agent.wantDead(t)
	}
	<-past
	if err := node.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, agent := range agents[half:] {
		agent.Conn.(*net.TCPConn).CloseWrite()
	}
	if err := node.Wait(); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat(fmt.Sprintf("%v %q\n", None, "done"), stoppedRuns); said.String() != want {
		t.Errorf("it made of the runs:\n%swant:\n%s", said.String(), want)
	}
}

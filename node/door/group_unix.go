//go:build linux || darwin

package door

import (
	"os"
	"os/exec"
	"syscall"
)

// group is the process group of a command. Its id is the command's process id,
// which stays taken until the command has been waited for.
type group struct {
	id  int
	cmd *exec.Cmd
}

// neverBlock has the opening of a pipe that nobody writes to return, and that of
// a link fail.
const neverBlock = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// prepare makes cmd the leader of a session, and so of a process group. Without
// a terminal a command that asks on /dev/tty fails at once; in a mere group of
// the node's session it would be stopped until its time is over.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr)
}

func adopt(cmd *exec.Cmd) group { return group{id: cmd.Process.Pid, cmd: cmd} }

// terminate asks all to end, those too that are stopped.
func (g group) terminate() {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT)
}

func (g group) kill() { g.signal(syscall.SIGKILL) }

// signal passes over errors: they say that nobody is left.
func (g group) signal(s syscall.Signal) { _ = syscall.Kill(-g.id, s) }

func (g group) release() ending {
	_ = g.cmd.Wait() // the state says all that its error says
	return ofState(g.cmd.ProcessState)
}

// endedBy is the signal that ended a command, "" if none did.
func endedBy(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

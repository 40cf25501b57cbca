//go:build linux || darwin

package door

import (
	"os"
	"os/exec"
	"syscall"
)

// group is the process group of a command. Its id is the command's process id. No other process can
// get that id before the command has been waited for.
type group struct {
	id  int
	cmd *exec.Cmd
}

// neverBlock lets the opening of a pipe return although nobody writes to it, and the opening of a
// link fail.
const neverBlock = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// prepare makes `cmd` the leader of a session, and so of a process group. Without a terminal, a
// command that asks something on /dev/tty fails at once. In a mere group within the node's session,
// it would be stopped until its time is over.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr)
}

func adopt(cmd *exec.Cmd) group { return group{id: cmd.Process.Pid, cmd: cmd} }

// terminate asks all processes to end, even those that are stopped.
func (g group) terminate() {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT)
}

func (g group) kill() { g.signal(syscall.SIGKILL) }

// signal ignores errors: they mean that no process is left.
func (g group) signal(s syscall.Signal) { _ = syscall.Kill(-g.id, s) }

func (g group) release() ending {
	_ = g.cmd.Wait() // the state says everything that the error says
	return ofState(g.cmd.ProcessState)
}

// endedBy is the signal that ended a command; "" if none did.
func endedBy(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

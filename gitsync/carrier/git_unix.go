//go:build !windows

package carrier

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// ownGroup gives a command a session of its own. So it has no terminal on which to ask questions,
// and it ends together with its helpers. It is asked to end before it is killed: a git that is
// killed in the middle of a push to a path leaves the lock of the shared main behind, and then
// nobody can push any more. `end` kills what is left after that.
func ownGroup(cmd *exec.Cmd) (end func()) {
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	return func() {
		if cmd.Process != nil {
			_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // usually no process is left
		}
	}
}

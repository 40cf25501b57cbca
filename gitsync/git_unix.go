//go:build !windows

package gitsync

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// ownGroup gives a command a session of its own: it has no terminal to ask
// questions on, and is killed together with its helpers.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
}

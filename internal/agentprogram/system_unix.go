//go:build unix

package agentprogram

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// unblocked has the opening of a named pipe not wait for a writer.
const unblocked = syscall.O_NONBLOCK

// own reports whether a file belongs to the user of this process.
func own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// apart has a command, with all that it starts, end when its context does.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

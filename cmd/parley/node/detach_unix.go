//go:build unix

package node

import (
	"os"
	"syscall"
)

// ownSession keeps a process alive when the terminal from which it was started is closed.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func interrupt(p *os.Process) { _ = p.Signal(syscall.SIGTERM) } // it may have ended already

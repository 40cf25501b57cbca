package node

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownSession keeps a process alive when the console from which it was started is closed.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// interrupt ends a process: a detached one gets no Ctrl-C.
func interrupt(p *os.Process) { _ = p.Kill() } // it may have ended already

//go:build linux || darwin

package door

import (
	"syscall"
	"unsafe"
)

// waitLeader blocks until the command has ended, without waiting for it in the sense of the system.
// Until somebody does that, its group can be signalled without the danger that the id belongs to
// another process.
func (g group) waitLeader() {
	const byPID = 1
	var info [16]uint64 // a siginfo_t, which has at most 128 bytes and is not read
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(g.id),
			uintptr(unsafe.Pointer(&info[0])), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

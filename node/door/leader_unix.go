//go:build linux || darwin

package door

import (
	"syscall"
	"unsafe"
)

// waitLeader blocks until the command has ended, and leaves it to be waited for.
// Until then its group can be signalled without the danger that the id belongs
// to somebody else by then.
func (g group) waitLeader() {
	const byPID = 1
	var info [16]uint64 // a siginfo_t, which is 128 bytes at most and not read
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(g.id),
			uintptr(unsafe.Pointer(&info[0])), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

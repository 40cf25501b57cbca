package process

import (
	"os"

	"golang.org/x/sys/unix"
)

func peerOf(fd int) (*Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return nil, err
	}
	p := &Peer{UID: int(cred.Uid)}
	if cred.Pid <= 0 {
		return p, nil // it lives in another namespace of process numbers
	}
	// The handle stands for the process itself, whatever becomes of its number. Older systems give
	// a handle only for the number. At this moment the number still belongs to that process,
	// because it has only just connected.
	handle, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err != nil {
		handle, err = unix.PidfdOpen(int(cred.Pid), 0)
	}
	if err == nil {
		unix.CloseOnExec(handle)
		p.handle = os.NewFile(uintptr(handle), "pidfd")
	}
	p.know(int(cred.Pid))
	return p, nil
}

// running reports whether the process behind the handle has not ended.
func (p *Peer) running() bool {
	if p.handle == nil {
		return true // the moment of its start has to tell
	}
	raw, err := p.handle.SyscallConn()
	if err != nil {
		return false
	}
	ended := true
	err = raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		ended = err != nil || n > 0
	})
	return err == nil && !ended
}

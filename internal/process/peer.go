package process

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
)

// Peer is who opened the other end of a socket of this machine. The system says it
// when the connection is made; what the process does with the socket afterwards
// changes nothing.
type Peer struct {
	UID int // its user
	ID      // its process; PID 0 where the system shows none
	// Hidden is set where this system tells nothing of processes, so that nothing
	// follows from a PID of 0.
	Hidden bool

	handle *os.File           // of the process; nil where the system gives none
	top    atomic.Pointer[ID] // see Remember
}

// Remember keeps what stays true of the peer as long as it runs: that nothing was found
// of it and of all above it, and which process is at the top of them.
func (p *Peer) Remember(top ID) { p.top.Store(&top) }

// Remembered is that process, where one was remembered and it is certain that the peer's own
// runs still: that takes one call of the system, where to look anew takes dozens.
func (p *Peer) Remembered() (top ID, ok bool) {
	kept := p.top.Load()
	if kept == nil || p.handle == nil || !p.running() {
		return ID{}, false
	}
	return *kept, true
}

// PeerOf is the other end of a Unix socket. Close it when the connection ends.
func PeerOf(conn net.Conn) (*Peer, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.New("cannot tell who is at the other end: it is no Unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	var p *Peer
	var failed error
	if err := raw.Control(func(fd uintptr) { p, failed = peerOf(int(fd)) }); err != nil {
		return nil, err
	}
	return p, failed
}

// Here reports whether the process of the peer is still the one that opened the
// socket, and runs.
func (p *Peer) Here() bool { return p.PID > 0 && p.running() && p.Alive() }

// Close releases what is held of the process.
func (p *Peer) Close() error {
	if p.handle == nil {
		return nil
	}
	return p.handle.Close()
}

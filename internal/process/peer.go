package process

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
)

// Peer is the process that opened the other end of a socket of this machine. The system says which
// one it is when the connection is made. What the process does with the socket afterwards changes
// nothing of that.
type Peer struct {
	UID int // its user
	ID      // its process; PID is 0 if the system shows none
	// Hidden is true if this system tells nothing of processes. Then a PID of 0 means nothing.
	Hidden bool

	handle *os.File           // of the process; nil if the system gives none
	top    atomic.Pointer[ID] // see Remember
}

// Remember keeps what stays true of the peer as long as it runs: nothing was found out about it and
// all processes above it, and `top` is the topmost of them.
func (p *Peer) Remember(top ID) { p.top.Store(&top) }

// Remembered returns the process that Remember kept, if the peer's own process certainly still
// runs. That takes one system call. To look again would take dozens.
func (p *Peer) Remembered() (top ID, ok bool) {
	kept := p.top.Load()
	if kept == nil || p.handle == nil || !p.running() {
		return ID{}, false
	}
	return *kept, true
}

// PeerOf returns the process at the other end of a Unix socket. Close it when the connection ends.
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

// Here reports whether the process that opened the socket still runs.
func (p *Peer) Here() bool { return p.PID > 0 && p.running() && p.Alive() }

// Close releases the handle of the process.
func (p *Peer) Close() error {
	if p.handle == nil {
		return nil
	}
	return p.handle.Close()
}

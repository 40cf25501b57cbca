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
	// Ended is true if the process had ended before it could be looked at. Then PID is 0.
	Ended bool
	// Terminal is the number of the terminal that the process had when it opened the connection; 0: none.
	Terminal int

	handle *os.File                   // of the process; nil if the system gives none
	above  []ID                       // what Ancestry returned when a process with a terminal opened the connection
	top    atomic.Pointer[remembered] // see Remember
}

// know notes what the system shows of the process with that number, which has just opened the
// connection. The ancestors of a process with a terminal are kept: it may end before its request is
// answered.
func (p *Peer) know(pid int) {
	s, err := look(pid)
	if err != nil || s.ended || !p.running() {
		p.Ended = err == nil || errors.Is(err, ErrGone)
		return
	}
	p.ID, p.Terminal = s.ID, s.terminal
	if p.Terminal != 0 {
		p.above, _ = Ancestry(pid) // without it, it is looked up again
	}
}

// Ancestry returns the peer and the processes beneath which it runs, or ran when it opened the
// connection, as the function of that name does.
func (p *Peer) Ancestry() ([]ID, error) {
	if p.above != nil {
		return p.above, nil
	}
	return Ancestry(p.PID)
}

// remembered is what Remember keeps.
type remembered struct {
	top     ID
	version uint64
}

// Remember keeps what stays true of the peer as long as it runs, and as long as what its ancestors
// are compared with has this version: nothing was found out about it and all processes above it,
// and `top` is the topmost of them.
func (p *Peer) Remember(top ID, version uint64) { p.top.Store(&remembered{top, version}) }

// Remembered returns the process that Remember kept for this version, if the peer's own process
// certainly still runs. That takes one system call. To look again would take dozens.
func (p *Peer) Remembered(version uint64) (top ID, ok bool) {
	kept := p.top.Load()
	if kept == nil || kept.version != version || p.handle == nil || !p.running() {
		return ID{}, false
	}
	return kept.top, true
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

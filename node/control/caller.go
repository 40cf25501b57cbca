package control

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/protocol"
)

// CallerKind says what a caller may do (R37).
type CallerKind int

// The kinds of callers. The first one may do the least.
const (
	// Unattended is a caller of whom nothing can be found out. It may read, and speak as the human,
	// and what it says is marked. The zero Caller is of this kind.
	Unattended CallerKind = iota
	// ByAgent is an agent, or something that an agent has started. It may read, and speak as
	// itself.
	ByAgent
	// Operator is whoever operates this host. They may do everything.
	Operator
)

// String names the kind in one word.
func (k CallerKind) String() string {
	switch k {
	case Operator:
		return "operator"
	case ByAgent:
		return "agent"
	}
	return "unattended"
}

// Caller is who asks the node. The door through which a request comes decides it, by what it knows
// of the process at the other end and of the token that this process bears. Nothing in a request
// can say or change it.
type Caller struct {
	Kind CallerKind
	// Name is in whose name it speaks if a request does not say so. An agent without a name is one
	// that nobody can identify: it may only read.
	Name protocol.Name
	// Because is the message for which the agent was started, or the one that it was last given;
	// zero if there is none (R13).
	Because protocol.Path
	// Run is the run of the agent's command to which it belongs; "" for none.
	Run string
	// Process is the process that called; zero if the system does not tell.
	Process process.ID
	// Left is true for what may be left of a session of an agent program, so that nobody can tell whose
	// it is.
	Left bool
	// How says by what it was recognised, in words for the log.
	How string
}

// Itself is the caller of a request that comes through no door: this program, which counts as its
// operator.
func Itself() Caller { return Caller{Kind: Operator, How: "within this program"} }

// Calling is what a door knows of a caller.
type Calling struct {
	// Peer is the process at the other end; nil if the system did not tell.
	Peer *process.Peer
	// Token is what the caller bears as PARLEY_TOKEN, "" for none.
	Token string
	// Agent is the name in its PARLEY_AGENT; "" for none. Anybody can write anything there. So it
	// may only take rights away from a caller.
	Agent string
	// Thread is the agent program's id of the session for which the caller, a server of tools, says
	// that it is asked; "" for none. It is a claim.
	Thread string
}

// Headers by which a client passes on what its environment says.
const (
	headerToken  = "Parley-Token"
	headerAgent  = "Parley-Agent"
	headerThread = "Parley-Thread"
)

type peerKey struct{}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*peerConn); ok {
		return context.WithValue(ctx, peerKey{}, c.peer)
	}
	return ctx
}

func callingOf(r *http.Request) Calling {
	peer, _ := r.Context().Value(peerKey{}).(*process.Peer)
	return Calling{Peer: peer, Token: headerOf(r, headerToken), Agent: headerOf(r, headerAgent), Thread: headerOf(r, headerThread)}
}

// headerOf is the value of a header, as a client writes it.
func headerOf(r *http.Request, name string) string {
	written := r.Header.Get(name)
	if text, err := url.QueryUnescape(written); err == nil {
		return text
	}
	return written // another program wrote it; the judge refuses it
}

// peerListener finds out for each connection which process has opened it. It does so at once, while
// that process most likely still runs.
type peerListener struct{ net.Listener }

// Accept waits for the next connection.
func (l peerListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	peer, err := process.PeerOf(conn)
	if err != nil {
		return conn, nil // the judge is told that nothing is known
	}
	return &peerConn{Conn: conn, peer: peer}, nil
}

type peerConn struct {
	net.Conn
	peer *process.Peer
}

// Close closes the connection and releases what is held of its process.
func (c *peerConn) Close() error {
	err := c.Conn.Close()
	_ = c.peer.Close() // it is closed twice if the connection is
	return err
}

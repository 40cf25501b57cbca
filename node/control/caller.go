package control

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/protocol"
)

// CallerKind is what a caller may do (R37).
type CallerKind int

// The kinds of callers, from the one that may least.
const (
	// Unattended is a caller of whom nothing can be found out: it reads, and speaks
	// as the human, and what it says is marked. The zero value of a Caller is one.
	Unattended CallerKind = iota
	// ByAgent is an agent, or something that an agent has started: it reads, and
	// speaks as itself.
	ByAgent
	// Operator is whoever operates this host: it may do everything.
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

// Caller is who asks the node. The door through which a request comes decides it,
// from what it knows of the process at the other end and of the token that this
// bears. Nothing in a request can say or change it.
type Caller struct {
	Kind CallerKind
	// Name is as whom it speaks where a request does not say it. An agent without a
	// name is one of which nobody knows which it is: it only reads.
	Name protocol.Name
	// Because is the message for which the agent was started, or which it was given
	// last; zero where there is none (R13).
	Because protocol.Path
	// Run is the run of the agent's command that it belongs to, "" for none.
	Run string
	// Process is the one that called; zero where the system does not tell.
	Process process.ID
	// How says by what it was recognised, in words for the log.
	How string
}

// Itself is the caller where a request comes through no door: the program, and that is
// its operator.
func Itself() Caller { return Caller{Kind: Operator, How: "within this program"} }

// Calling is what a door knows of a caller.
type Calling struct {
	// Peer is the process at the other end; nil where the system did not tell.
	Peer *process.Peer
	// Token is what the caller bears as PARLEY_TOKEN, "" for none.
	Token string
	// Agent is whom its PARLEY_AGENT names, "" for nobody. Anybody can write anything
	// there, so it may only lower what a caller may do.
	Agent string
}

// Headers by which a client says what its environment says.
const (
	headerToken = "Parley-Token"
	headerAgent = "Parley-Agent"
)

type peerKey struct{}

// withPeer is the context of a connection.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*peerConn); ok {
		return context.WithValue(ctx, peerKey{}, c.peer)
	}
	return ctx
}

// callingOf is what is known of who sent a request.
func callingOf(r *http.Request) Calling {
	peer, _ := r.Context().Value(peerKey{}).(*process.Peer)
	return Calling{Peer: peer, Token: headerOf(r, headerToken), Agent: headerOf(r, headerAgent)}
}

// headerOf is what stands in a header, as a client writes it.
func headerOf(r *http.Request, name string) string {
	written := r.Header.Get(name)
	if text, err := url.QueryUnescape(written); err == nil {
		return text
	}
	return written // of another program: who judges it refuses it
}

// peerListener finds out of each connection who has opened it, at once, while that
// process most likely still runs.
type peerListener struct{ net.Listener }

// Accept waits for the next connection.
func (l peerListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	peer, err := process.PeerOf(conn)
	if err != nil {
		return conn, nil // the judge hears that nothing is known
	}
	return &peerConn{Conn: conn, peer: peer}, nil
}

// peerConn is a connection and who has opened it.
type peerConn struct {
	net.Conn
	peer *process.Peer
}

// Close closes the connection and lets go of its process.
func (c *peerConn) Close() error {
	err := c.Conn.Close()
	_ = c.peer.Close() // it is closed twice where the connection is
	return err
}

package bus

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nkeys"
)

// Stream is something else than links for which others may dial the links port, such as git's
// packs. Which it is, is settled in the TLS handshake (ALPN). Both ends prove their keys, as for
// links. Nothing of a stream reaches the NATS server.
type Stream struct {
	Name string // in the handshake
	Most int    // how many there may be at once; 0 means 16
	Each int    // of these, how many of one host or stranger; 0 means half
	// Admit says whether the holder of a key is let in. nil: if it is the key of another host and counts.
	Admit func(key string) bool
	// Serve speaks with whoever has proved `key`. `ctx` ends when the port closes or the key is no
	// longer admitted, and the connection is closed then, and after Serve has returned. Serve sets
	// its own deadlines.
	Serve func(ctx context.Context, conn *tls.Conn, key string)
}

// streams are what the links port serves besides links.
type streams struct {
	bus   *Bus
	kinds []Stream

	mu   sync.Mutex         // guards open
	open map[*inflow]string // what is served, and the name of its stream
}

// inflow is one connection that is served.
type inflow struct {
	key string
	who string // the host, or the origin of a stranger
	end context.CancelFunc
}

func (s *streams) names() []string {
	names := []string{linkName}
	for _, kind := range s.kinds {
		names = append(names, kind.Name)
	}
	return names
}

// kind is the stream for which somebody has dialled; nil for a link.
func (s *streams) kind(conn *tls.Conn) *Stream {
	at := slices.IndexFunc(s.kinds, func(k Stream) bool { return k.Name == conn.ConnectionState().NegotiatedProtocol })
	if at < 0 {
		return nil
	}
	return &s.kinds[at]
}

// admits reports whether the holder of a key is let in, and under which name it is counted.
func (s *streams) admits(kind *Stream, key string, from net.Addr) (who string, ok bool) {
	host, counts := s.bus.opts.Trusted(key)
	if who = host.String(); !counts {
		who = origin(from)
	}
	if kind.Admit != nil {
		return who, kind.Admit(key)
	}
	return who, counts && key != s.bus.identity().public
}

// enter notes a connection and answers it. It returns nil if the connection is refused.
func (s *streams) enter(ctx context.Context, kind *Stream, conn *tls.Conn) (context.Context, *inflow) {
	answer := welcome{Link: linkVersion, Version: s.bus.opts.Discovery.Version, Time: s.bus.opts.Now().UTC()}
	ctx, cancel := context.WithCancel(ctx)
	in := &inflow{end: cancel}
	var ok bool
	key, err := peerKey(conn.ConnectionState())
	if err == nil {
		in.key = key
		in.who, ok = s.admits(kind, key, conn.RemoteAddr())
	}
	switch {
	case err != nil:
		answer.Cause, answer.Reason = CauseKey, "the key that this host shows cannot be read"
	case !ok:
		answer.Cause, answer.Reason = CauseKey, "it does not accept this host's key"
	case !s.note(kind, in):
		answer.Cause, answer.Reason = CauseBusy, "it has too many connections of this kind"
	}
	if err := writeLine(conn, answer); err != nil || answer.Cause != "" || conn.SetDeadline(time.Time{}) != nil {
		s.leave(in)
		return nil, nil
	}
	return ctx, in
}

func (s *streams) note(kind *Stream, in *inflow) bool {
	most := cmp.Or(kind.Most, 16)
	each := cmp.Or(kind.Each, max(most/2, 1))
	s.mu.Lock()
	defer s.mu.Unlock()
	all, own := 0, 0
	for other, name := range s.open {
		if name == kind.Name {
			if all++; other.who == in.who {
				own++
			}
		}
	}
	if all >= most || own >= each {
		return false
	}
	s.open[in] = kind.Name
	return true
}

func (s *streams) leave(in *inflow) {
	in.end()
	s.mu.Lock()
	delete(s.open, in)
	s.mu.Unlock()
}

// serve speaks with whoever has dialled until that ends.
func (s *streams) serve(ctx context.Context, kind *Stream, conn *tls.Conn, in *inflow) {
	defer s.leave(in)
	stop := context.AfterFunc(ctx, func() { _ = conn.NetConn().Close() })
	defer stop()
	if _, ok := s.admits(kind, in.key, conn.RemoteAddr()); ok { // it may have been revoked before recheck could see it
		kind.Serve(ctx, conn, in.key)
	}
	_ = conn.Close()
}

// recheck ends what is served to keys that are no longer admitted.
func (s *streams) recheck() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for in, name := range s.open {
		at := slices.IndexFunc(s.kinds, func(k Stream) bool { return k.Name == name })
		if _, ok := s.admits(&s.kinds[at], in.key, &net.TCPAddr{}); !ok {
			in.end()
		}
	}
}

// DialStream dials the links port of a host for a stream, showing `key`. It needs no bus that runs.
// `verify` says whether a key is the right one; the host there has to prove it, or a key that follows it. The error is a *DialError. Dialling
// takes 6 s at most; after that the connection has no deadline.
func DialStream(ctx context.Context, address, name string, key nkeys.KeyPair, verify func(key string) error) (*tls.Conn, error) {
	fail := func(cause Cause, reason string) (*tls.Conn, error) {
		return nil, &DialError{Address: address, Cause: cause, Reason: reason}
	}
	cert, err := hostCertificate(key, "", nil)
	if err != nil {
		return fail(CauseKey, err.Error())
	}
	dialling, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext(dialling, "tcp", address)
	if err != nil {
		return fail(noRoute(err))
	}
	conn := tls.Client(raw, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection checks it, by the key
		NextProtos:         []string{name},
		Certificates:       []tls.Certificate{cert},
		VerifyConnection: func(state tls.ConnectionState) error {
			shown, err := peerKey(state)
			if err == nil {
				err = verify(shown)
				if err != nil && slices.ContainsFunc(formerKeys(state), func(old string) bool { return verify(old) == nil }) {
					err = nil
				}
			}
			switch {
			case err != nil:
				return &pinError{CauseKey, err.Error()}
			case state.NegotiatedProtocol != name:
				return &pinError{CauseVersion, fmt.Sprintf("it does not speak %s", name)}
			}
			return nil
		},
	})
	if err := awaitWelcome(ctx, conn); err != nil {
		_ = raw.Close()
		return fail(noHandshake(err))
	}
	return conn, nil
}

// awaitWelcome shakes hands and reads whether the other end serves the stream.
func awaitWelcome(ctx context.Context, conn *tls.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.NetConn().SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	var says welcome
	if err := readLine(conn, &says); err != nil {
		return err
	}
	if says.Cause != "" {
		return &pinError{says.known(), said(says.Reason)}
	}
	if !stop() {
		return context.Cause(ctx)
	}
	return conn.SetDeadline(time.Time{})
}

package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

const (
	maxKnocking = 128 // connections that have not proved a key yet
	maxFromOne  = 16  // of these, connections from one address
	maxInlinks  = 512
	maxOfHost   = 8 // of these, connections from one host: more than a restart or two leave behind
)

// entrance is the port for links of other hosts. It always speaks TLS, and lets in a host that
// proves a key which counts. It passes the host's bytes to the leaf port of the embedded server.
// That port is on the loopback and takes nobody else (guard). So strangers never reach the server.
type entrance struct {
	bus      *Bus
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup
	carrying tally // the links that exist
	streams  streams

	mu        sync.Mutex         // guards the fields below
	asked     string             // the address as the operator wrote it
	listener  net.Listener       // nil while no links are taken
	advertise []string           // addresses at which others reach it, as the operator wrote them
	leafPort  string             // leaf port of the server; "" until it is ready
	knocking  []*knocking        // who is greeted, the oldest first
	inside    map[string]*inlink // links by the address at which the server sees them
}

// knocking is a connection that has not proved a key yet.
type knocking struct {
	net.Conn
	from string // see origin
}

// inlink is a link that another host dialled.
type inlink struct {
	host    protocol.Name
	key     string
	address string // of the other host
	takes   bool   // it takes links itself
	carries bool   // it may carry what the hosts behind it say
	up      bool   // it is a link up: see tree
	entered bool   // the other server has said who it is; guarded by entrance.mu
	end     context.CancelFunc
}

func newEntrance(b *Bus) *entrance {
	e := &entrance{bus: b, inside: map[string]*inlink{}}
	e.streams = streams{bus: b, kinds: b.opts.Streams, open: map[*inflow]string{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	b.teardown.push("end of the links port", e.close)
	return e
}

// bind takes the port. Nobody is answered there before open.
func (e *entrance) bind(ctx context.Context, address string, advertise []string) error {
	if _, _, err := protocol.SplitHostPort(address); err != nil {
		return fmt.Errorf("cannot listen for links: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.listener != nil {
		return fmt.Errorf("cannot listen for links at %s: this host takes them at %s already", address, e.listener.Addr())
	}
	if e.ctx.Err() != nil {
		return ErrClosed
	}
	l, err := (&net.ListenConfig{KeepAliveConfig: keepAlive}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen for links: %w", err)
	}
	e.asked, e.listener, e.advertise = address, l, slices.Clone(advertise)
	return nil
}

// address is where links are taken, "" for nowhere, and where others reach that.
func (e *entrance) address() (bound string, advertised []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.listener == nil {
		return "", nil
	}
	bound = asAsked(e.asked, e.listener.Addr().String())
	return bound, Advertised(e.advertise, bound)
}

// open begins to take links for the server, if a port is bound and the server is ready.
func (e *entrance) open() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.listener; l != nil && e.leafPort != "" && e.ctx.Err() == nil {
		e.work.Go(func() { acceptAll(e.ctx, l, e.knock) }) // ends with e.ctx
	}
}

// OpenLinks has a bus that runs take links of other hosts, as if Config had said so at its start. It
// does not last longer than the bus. An existing link to a hub is made anew, because that hub has to
// know that there may be hosts behind this one.
func (b *Bus) OpenLinks(ctx context.Context, address string, advertise []string) error {
	if b.server == nil {
		return errors.New("cannot listen for links: an existing NATS system is used")
	}
	if err := b.entrance.bind(ctx, address, advertise); err != nil {
		return err
	}
	if b.dialler != nil {
		b.dialler.drop()
	}
	b.entrance.open()
	return nil
}

// close ends all links. Call it after the server was ended, so that the server's last words still
// pass.
func (e *entrance) close() error {
	e.mu.Lock()
	l := e.listener
	e.mu.Unlock()
	if l != nil {
		_ = l.Close()
	}
	e.carrying.wait(lingerFor)
	e.mu.Lock()
	e.cancel()
	e.mu.Unlock()
	e.work.Wait()
	return nil
}

// knock serves a new connection, or closes it if there are too many of its address. If there are too
// many of all, the oldest one goes: whoever means well has proved a key long before.
func (e *entrance) knock(conn net.Conn) {
	fresh := &knocking{conn, origin(conn.RemoteAddr())}
	e.mu.Lock()
	own := 0
	for _, k := range e.knocking {
		if k.from == fresh.from {
			own++
		}
	}
	full := own >= maxFromOne || len(e.inside) >= maxInlinks
	if !full {
		if len(e.knocking) >= maxKnocking {
			_ = e.knocking[0].Close()
			e.knocking = e.knocking[1:]
		}
		e.knocking = append(e.knocking, fresh)
	}
	e.mu.Unlock()
	if full {
		_ = conn.Close()
		return
	}
	e.work.Go(func() { // ends with the connection, and that ends with e.ctx
		defer conn.Close()
		stop := context.AfterFunc(e.ctx, func() { _ = conn.Close() })
		defer stop()
		goOn := e.greet(conn)
		e.mu.Lock()
		e.knocking = slices.DeleteFunc(e.knocking, func(k *knocking) bool { return k == fresh })
		e.mu.Unlock()
		if goOn != nil {
			goOn()
		}
	})
}

// origin is the part of an address by which connections are counted. Of an IPv6 address it is the
// first half, because whoever has one such address has all addresses with that half.
func origin(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits /= 2
	}
	return netip.PrefixFrom(ip, bits).Masked().String()
}

// greet does the handshake with whoever has connected, and answers. It returns how to go on with a
// connection that was let in; nil for none.
func (e *entrance) greet(conn net.Conn) func() {
	if conn.SetDeadline(time.Now().Add(helloTimeout)) != nil {
		return nil
	}
	config := e.bus.serverTLS()
	config.NextProtos = e.streams.names()
	config.ClientAuth = tls.RequireAnyClientCert
	secure := tls.Server(conn, config)
	var asks hello
	err := secure.Handshake()
	kind := e.streams.kind(secure)
	if err == nil && kind == nil {
		err = readLine(secure, &asks)
	}
	if err != nil {
		e.bus.opts.Log.Debug().Err(err).Stringer("address", conn.RemoteAddr()).Msg("a connection to the links port came to nothing")
		return nil
	}
	if kind != nil {
		ctx, in := e.streams.enter(e.ctx, kind, secure)
		if in == nil {
			return nil
		}
		return func() { e.streams.serve(ctx, kind, secure, in) }
	}
	in, answer := e.judge(secure, asks)
	if err := writeLine(secure, answer); err != nil || answer.Cause != "" || asks.Probe || conn.SetDeadline(time.Time{}) != nil {
		e.leave(in)
		return nil
	}
	return func() { e.carry(secure, in) }
}

// judge decides whether a link is allowed. If it is, the caller must call leave.
func (e *entrance) judge(conn *tls.Conn, asks hello) (*inlink, welcome) {
	b := e.bus
	answer := welcome{Link: linkVersion, Version: b.opts.Discovery.Version, Time: b.opts.Now().UTC()}
	no := func(cause Cause, format string, args ...any) (*inlink, welcome) {
		answer.Cause, answer.Reason = cause, fmt.Sprintf(format, args...)
		b.opts.Log.Debug().Stringer("address", conn.RemoteAddr()).Str("cause", string(cause)).Msg("a link was refused")
		return nil, answer
	}
	key, err := peerKey(conn.ConnectionState())
	if err != nil {
		return no(CauseKey, "the key that this host shows cannot be read")
	}
	host, counts := b.opts.Trusted(key)
	switch {
	case key == b.identity().public:
		return no(CauseSelf, "that is this host itself, or a copy of it")
	case !counts && b.revokedHost(key) != "":
		return no(CauseKey, toldRevoked)
	case !counts:
		return no(CauseKey, "it does not accept this host's key; of a host that has just joined it learns from the record, in some seconds")
	case host == b.opts.Alias:
		return no(CauseSelf, "this host shows a key of the host that it dials")
	case asks.Link != linkVersion:
		return no(CauseVersion, "it speaks version %d of links (parley %s), this host version %d", linkVersion, b.opts.Discovery.Version, asks.Link)
	}
	in := &inlink{host: host, key: key, address: conn.RemoteAddr().String(), takes: asks.Takes}
	if asks.Probe {
		return in, answer
	}
	if len(slices.DeleteFunc(e.links(), func(in *inlink) bool { return in.host != host })) >= maxOfHost {
		return no(CauseBusy, "it has %d links of this host already", maxOfHost)
	}
	if in.up = asks.Takes && host < b.opts.Alias; in.up && !b.tree.takeUp(time.Now()) {
		return no(CauseBusy, "it is linked to another hub, and takes no link of a host before it in the alphabet meanwhile")
	}
	return in, answer
}

// leave undoes what judge did.
func (e *entrance) leave(in *inlink) {
	if in != nil && in.up {
		e.bus.tree.dropUp(time.Now())
	}
}

// carry passes the bytes of a link to the server until it ends.
func (e *entrance) carry(conn *tls.Conn, in *inlink) {
	defer e.leave(in)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	in.end, in.carries = cancel, in.takes && e.bus.carries(in.host)
	e.mu.Lock()
	leafPort := e.leafPort
	e.mu.Unlock()
	inner, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", leafPort)
	if err != nil {
		e.bus.opts.Log.Warn().Err(err).Msg("cannot reach the embedded server for a link")
		return
	}
	seenAt := inner.LocalAddr().String()
	e.mu.Lock()
	e.inside[seenAt] = in
	e.mu.Unlock()
	if host, counts := e.bus.opts.Trusted(in.key); !counts || host != in.host {
		cancel() // its key was revoked after it was judged, when Recheck could not see the link yet
	}
	if in.carries != (in.takes && e.bus.carries(in.host)) {
		cancel() // after that the record has said something else about whether it takes links
	}
	if in.up && e.bus.tree.isShut(time.Now()) {
		cancel() // it was ended after it was judged, when look could not see it yet
	}
	defer func() {
		e.mu.Lock()
		delete(e.inside, seenAt)
		e.mu.Unlock()
		e.bus.links.poke()
		if e.bus.dialler != nil {
			e.bus.dialler.poke() // now that host may have to be dialled
		}
	}()
	e.bus.links.poke()
	e.carrying.Add(1)
	defer e.carrying.Add(-1)
	entering := &firstLine{Conn: conn, host: in.host, like: e.bus.opts.ServerID}
	if in.carries {
		pass(ctx, entering, inner)
	} else {
		pass(ctx, newUnmarked(conn, entering), inner)
	}
}

// enter is the link that the server sees at an address. It returns the link only the first time
// that the other server enters by it. After that, and if there is none, it returns nil. NATS trusts
// what a second CONNECT says as much as the first one, and only the first one is checked.
func (e *entrance) enter(address string) *inlink {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := e.inside[address]
	if in == nil || in.entered {
		return nil
	}
	in.entered = true
	return in
}

// at is the link that the server sees at an address; nil for none.
func (e *entrance) at(address string) *inlink {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.inside[address]
}

func (e *entrance) links() []*inlink {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.inside))
}

package bus

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

const (
	startWait      = 5 * time.Minute  // a machine under load may take long; what cannot start says so itself
	flushWait      = 10 * time.Second // how long a start waits for a NATS system that is there already
	stopWait       = 5 * time.Second
	maxPayload     = protocol.MaxFile // bytes with the headers: what NATS systems carry unless they are configured otherwise
	maxPending     = 64 << 20         // bytes that wait for one slow client before it is disconnected
	maxConnections = 1024
	maxSubs        = 4096 // subscriptions of one connection
	pingInterval   = 2 * time.Second
	maxPings       = 2 // unanswered pings before a connection counts as dead
	authTimeout    = 5 // seconds
	dialTimeout    = 3 * time.Second
	reconnectWait  = 500 * time.Millisecond
	leafRetry      = 50 * time.Millisecond // pause of the server at the dialler's door; the dialler has longer pauses of its own
)

// startServer starts the embedded server, with the links port and the dialler if they are wanted,
// and waits until it is ready.
func (b *Bus) startServer(ctx context.Context) error {
	if err := b.startLinks(ctx); err != nil {
		return err
	}
	guard, err := newGuard(b)
	if err != nil {
		return err
	}
	opts, err := b.serverOptions(guard)
	if err != nil {
		return err
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("cannot make the embedded NATS server: %w", err)
	}
	guard.account = srv.GlobalAccount()
	takes := opts.LeafNode.Port != 0
	fatal := make(chan string, 1)
	srv.SetLogger(&logger{log: quiet(b.opts.Log), fatal: fatal, leaf: b.links.poke}, true, false)
	b.server = srv
	b.teardown.push("stop of the embedded server", func() error { return stopServer(srv) })
	srv.Start()
	if err := b.awaitServer(ctx, srv, fatal); err != nil || !takes {
		return err
	}
	v, err := srv.Varz(nil)
	if err != nil {
		return fmt.Errorf("cannot ask the embedded NATS server for its ports: %w", err)
	}
	b.entrance.mu.Lock()
	b.entrance.leafPort = net.JoinHostPort(v.LeafNode.Host, strconv.Itoa(v.LeafNode.Port))
	b.entrance.mu.Unlock()
	b.entrance.open()
	return nil
}

// startLinks binds the links port and makes the dialler, as far as they are wanted.
func (b *Bus) startLinks(ctx context.Context) error {
	links, err := b.opts.linksAddress()
	if err != nil {
		return err
	}
	b.entrance = newEntrance(b)
	if links != "" {
		if err := b.entrance.bind(ctx, links, b.opts.Advertise); err != nil {
			return err
		}
	}
	if b.opts.Hubs != nil {
		b.dialler, err = newDialler(b)
	}
	return err
}

func (b *Bus) serverOptions(g *guard) (*server.Options, error) {
	opts := &server.Options{
		ServerName:                 b.opts.Alias.String() + "-" + b.opts.ServerID,
		DontListen:                 b.opts.Listen == "",
		NoSigs:                     true,
		NoLog:                      true,
		NoSystemAccount:            true,
		AlwaysEnableNonce:          true,
		CustomClientAuthentication: g,
		MaxPayload:                 maxPayload,
		MaxPending:                 maxPending,
		MaxConn:                    maxConnections,
		MaxSubs:                    maxSubs,
		PingInterval:               pingInterval,
		MaxPingsOut:                maxPings,
		AuthTimeout:                authTimeout,
	}
	if b.opts.Listen != "" {
		host, port, err := protocol.SplitHostPort(b.opts.Listen)
		if err != nil {
			return nil, fmt.Errorf("cannot listen: %w", err)
		}
		opts.Host, opts.Port = host, anyPort(int(port))
		if !protocol.IsLoopback(host) {
			opts.TLSConfig, opts.TLSTimeout = b.serverTLS(), helloTimeout.Seconds()
		}
	}
	b.leafOptions(&opts.LeafNode)
	return opts, nil
}

// leafOptions set up both ends of links: the leaf port on the loopback, to which the entrance
// passes the links that it lets in, and the one remote, which is the dialler.
func (b *Bus) leafOptions(leaf *server.LeafNodeOpts) {
	leaf.AuthTimeout = authTimeout
	leaf.NoAdvertise = true
	leaf.ReconnectInterval = leafRetry
	// Without compression, no unknown peer can make us unpack anything.
	leaf.Compression.Mode = server.CompressionOff
	if b.dialler != nil || b.takesLinks() { // who dials others may take links later (OpenLinks)
		leaf.Host, leaf.Port = "127.0.0.1", server.RANDOM_PORT
	}
	if b.dialler != nil {
		leaf.Remotes = []*server.RemoteLeafOpts{b.dialler.remote()}
	}
}

// anyPort is `port` in the form of the server, which writes -1 for port 0.
func anyPort(port int) int {
	return cmp.Or(port, server.RANDOM_PORT)
}

func (b *Bus) awaitServer(ctx context.Context, srv *server.Server, fatal <-chan string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		select {
		case reason := <-fatal:
			// The server says in words alone why it cannot listen. To try before it would be no help: a
			// command that is being started has a copy of the listener for a moment after that is closed.
			if l, err := net.Listen("tcp", b.opts.Listen); err != nil {
				return fmt.Errorf("cannot listen for NATS clients: %w", err)
			} else if err := l.Close(); err != nil {
				return err
			}
			return fmt.Errorf("cannot start the embedded NATS server: %s", reason)
		case <-ctx.Done():
			return fmt.Errorf("cannot start the embedded NATS server: it is not ready: %w", ctx.Err())
		default:
		}
		if srv.ReadyForConnections(50 * time.Millisecond) {
			return nil
		}
	}
}

func stopServer(srv *server.Server) error {
	if !within(stopWait, func() { srv.Shutdown(); srv.WaitForShutdown() }) {
		return fmt.Errorf("it has not stopped after %s", stopWait)
	}
	return nil
}

// quiet bounds how much others can make the server write into the log.
func quiet(log zerolog.Logger) zerolog.Logger {
	return log.Sample(zerolog.LevelSampler{
		WarnSampler: &zerolog.BurstSampler{Burst: 20, Period: time.Minute},
	})
}

// logger carries the embedded server's words to our log, most of them one level lower than the
// server gives them. It also tells other parts of what they wait for.
type logger struct {
	log   zerolog.Logger
	fatal chan<- string // the first reason why the server cannot start
	leaf  func()        // called when a link came or went
}

// leafNews begins what the server says when a link comes or goes.
const leafNews = "Leafnode connection"

// Noticef takes what is normal for a server.
func (l *logger) Noticef(format string, v ...any) { l.note(zerolog.DebugLevel, format, v) }

// Warnf takes what a server can live with.
func (l *logger) Warnf(format string, v ...any) { l.note(zerolog.WarnLevel, format, v) }

// Errorf takes what went wrong with one connection: strangers who knock, and links that fail. The
// type links logs the latter once.
func (l *logger) Errorf(format string, v ...any) { l.note(zerolog.DebugLevel, format, v) }

// Debugf takes details.
func (l *logger) Debugf(format string, v ...any) { l.note(zerolog.TraceLevel, format, v) }

// Tracef takes single lines of the protocol. The server is told not to send them.
func (l *logger) Tracef(format string, v ...any) { l.note(zerolog.TraceLevel, format, v) }

// Fatalf takes the reason why the server cannot start.
func (l *logger) Fatalf(format string, v ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, v...):
	default:
	}
	l.note(zerolog.ErrorLevel, format, v)
}

func (l *logger) note(level zerolog.Level, format string, v []any) {
	if strings.Contains(format, leafNews) {
		l.leaf()
	}
	if l.log.GetLevel() <= level {
		l.log.WithLevel(level).Str("part", "nats").Msgf(format, v...)
	}
}

package bus

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

const (
	startWait      = 10 * time.Second
	stopWait       = 5 * time.Second
	maxPayload     = 1 << 20  // a message of 512 KiB, its headers, and room
	maxPending     = 64 << 20 // bytes that wait for one slow client before it is cut
	maxConnections = 1024
	maxSubs        = 4096 // of one connection
	pingInterval   = 2 * time.Second
	maxPings       = 2 // unanswered ones before a connection counts as dead
	authTimeout    = 5 // seconds
	dialTimeout    = 3 * time.Second
	reconnectWait  = 500 * time.Millisecond
)

// startServer starts the embedded server and waits until it is ready.
func (b *Bus) startServer(ctx context.Context) error {
	guard := &guard{opts: &b.opts, key: b.key, wake: b.links.poke}
	opts, err := b.serverOptions(ctx, guard)
	if err != nil {
		return err
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("cannot make the embedded NATS server: %w", err)
	}
	guard.account = srv.GlobalAccount()
	fatal := make(chan string, 1)
	srv.SetLogger(&logger{log: quiet(b.opts.Log), fatal: fatal, leaf: b.links.heardOf}, true, false)
	b.server = srv
	b.teardown.push("stop of the embedded server", func() error { return stopServer(srv) })
	srv.Start()
	return awaitServer(ctx, srv, fatal)
}

func (b *Bus) serverOptions(ctx context.Context, g *guard) (*server.Options, error) {
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
	opts.LeafNode.AuthTimeout = authTimeout
	opts.LeafNode.NoAdvertise = true
	opts.LeafNode.ReconnectInterval = reconnectWait
	opts.LeafNode.DialTimeout = dialTimeout
	// Without compression an unknown peer cannot make us unpack anything.
	opts.LeafNode.Compression.Mode = server.CompressionOff
	if err := b.listenOptions(opts); err != nil {
		return nil, err
	}
	return opts, b.remoteOptions(ctx, opts)
}

// listenOptions sets the two ports, as far as they are wanted.
func (b *Bus) listenOptions(opts *server.Options) error {
	var err error
	if b.opts.Listen != "" {
		if opts.Host, opts.Port, err = splitAddress(b.opts.Listen); err != nil {
			return fmt.Errorf("cannot listen: %w", err)
		}
		opts.Port = anyPort(opts.Port)
	}
	links, err := b.opts.linksAddress()
	if err != nil || links == "" {
		return err
	}
	if opts.LeafNode.Host, opts.LeafNode.Port, err = splitAddress(links); err != nil {
		return fmt.Errorf("cannot listen for links: %w", err)
	}
	opts.LeafNode.Port = anyPort(opts.LeafNode.Port)
	return nil
}

// anyPort is port as the server wants it, which calls port 0 -1.
func anyPort(port int) int {
	if port == 0 {
		return server.RANDOM_PORT
	}
	return port
}

// awaitServer waits until srv is ready or says why it cannot be.
func awaitServer(ctx context.Context, srv *server.Server, fatal <-chan string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		select {
		case reason := <-fatal:
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
	done := make(chan struct{})
	go func() { // ends when the server has stopped
		srv.Shutdown()
		srv.WaitForShutdown()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(stopWait):
		return fmt.Errorf("it has not stopped after %s", stopWait)
	}
}

// serverAddresses are the addresses that srv has bound.
func serverAddresses(srv *server.Server) Addresses {
	var a Addresses
	if addr := srv.Addr(); addr != nil {
		a.Clients = addr.String()
	}
	if v, err := srv.Varz(nil); err == nil && v.LeafNode.Port != 0 {
		a.Links = net.JoinHostPort(v.LeafNode.Host, strconv.Itoa(v.LeafNode.Port))
	}
	return a
}

// quiet bounds how much others can make the server write into the log.
func quiet(log zerolog.Logger) zerolog.Logger {
	return log.Sample(zerolog.LevelSampler{
		WarnSampler: &zerolog.BurstSampler{Burst: 20, Period: time.Minute},
	})
}

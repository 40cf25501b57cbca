package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// natsLinks is bare NATS over the same kind of links as hosts have: a server, and
// others that are linked to it as leaves over loopback with TLS, all in this
// process, with a client in each.
type natsLinks struct {
	servers []*server.Server
	hub     *nats.Conn
	spokes  []*nats.Conn
}

const (
	natsWait    = 10 * time.Second
	natsSubject = "bench.message"
	natsEcho    = "bench.echo"
)

// openLinks starts the servers, and returns when a message gets across each link. `heard` is called
// with what is published on natsSubject, for each spoke that hears it. nats.go calls it from one
// goroutine for each spoke.
func openLinks(ctx context.Context, spokes int, heard func(spoke int, m *nats.Msg)) (_ *natsLinks, err error) {
	l := &natsLinks{}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	certificate, err := bareCertificate()
	if err != nil {
		return nil, err
	}
	options := &server.Options{}
	options.LeafNode.Host, options.LeafNode.Port = "127.0.0.1", server.RANDOM_PORT
	options.LeafNode.TLSConfig, options.LeafNode.TLSTimeout = &tls.Config{Certificates: []tls.Certificate{certificate}}, natsWait.Seconds()
	if l.hub, err = l.start(options); err != nil {
		return nil, err
	}
	at, err := l.servers[0].Varz(nil)
	if err != nil {
		return nil, fmt.Errorf("cannot find the port of a bare NATS server: %w", err)
	}
	hub := &url.URL{Scheme: "nats-leaf", Host: fmt.Sprintf("127.0.0.1:%d", at.LeafNode.Port)}
	for i := range spokes {
		options := &server.Options{}
		options.LeafNode.Remotes = []*server.RemoteLeafOpts{{
			URLs: []*url.URL{hub}, TLS: true, TLSTimeout: natsWait.Seconds(), TLSConfig: &tls.Config{InsecureSkipVerify: true}}}
		conn, err := l.start(options)
		if err != nil {
			return nil, err
		}
		l.spokes = append(l.spokes, conn)
		sub, err := conn.Subscribe(natsSubject, func(m *nats.Msg) { heard(i, m) })
		if err == nil {
			err = sub.SetPendingLimits(-1, -1)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot subscribe: %w", err)
		}
	}
	return l, l.await(ctx)
}

// bareCertificate is a certificate at which nobody looks: it only makes TLS work.
func bareCertificate() (tls.Certificate, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a key: %w", err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// start runs one server and connects to it inside the process.
func (l *natsLinks) start(o *server.Options) (*nats.Conn, error) {
	o.ServerName = fmt.Sprintf("bench-%d", len(l.servers))
	o.DontListen, o.NoLog, o.NoSigs, o.NoSystemAccount = true, true, true, true
	srv, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("cannot make a bare NATS server: %w", err)
	}
	l.servers = append(l.servers, srv)
	srv.Start()
	if !srv.ReadyForConnections(natsWait) {
		return nil, errors.New("a bare NATS server did not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(srv))
	if err != nil {
		return nil, fmt.Errorf("cannot connect to a bare NATS server: %w", err)
	}
	return conn, nil
}

// await has the hub ask until every spoke has answered. A server tells of its subscriptions in
// their order. So the subscriptions that were made before are known then.
func (l *natsLinks) await(ctx context.Context) error {
	for i, spoke := range l.spokes {
		subject := fmt.Sprintf("%s.%d", natsEcho, i)
		if _, err := spoke.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil { // the one who asks notices
			return fmt.Errorf("cannot subscribe: %w", err)
		}
		err := until(ctx, "the bare servers were linked", time.Millisecond, func() (bool, error) {
			_, err := l.hub.RequestWithContext(ctx, subject, nil)
			if errors.Is(err, nats.ErrNoResponders) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// natsDeliveries has a hub publish `data` n times at full speed. It returns how long it takes until
// every spoke has all of them; 0 if some were lost.
func natsDeliveries(ctx context.Context, spokes int, data []byte, n int) (time.Duration, error) {
	seen, done := make([]int, spokes), make(chan struct{}, spokes)
	l, err := openLinks(ctx, spokes, func(i int, _ *nats.Msg) {
		if seen[i]++; seen[i] == n {
			done <- struct{}{}
		}
	})
	if err != nil {
		return 0, err
	}
	defer l.close()
	began := time.Now()
	for range n {
		if err := l.hub.Publish(natsSubject, data); err != nil {
			return 0, fmt.Errorf("cannot publish over bare NATS: %w", err)
		}
	}
	timer := time.NewTimer(natsWait)
	defer timer.Stop()
	for range spokes {
		select {
		case <-done:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-timer.C:
			return 0, nil
		}
	}
	return time.Since(began), nil
}

func (l *natsLinks) close() {
	for _, conn := range append(l.spokes, l.hub) {
		if conn != nil {
			conn.Close()
		}
	}
	for _, srv := range l.servers {
		srv.Shutdown()
		srv.WaitForShutdown()
	}
}

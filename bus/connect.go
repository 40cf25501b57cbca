package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/internal/wait"
)

const (
	connectWait    = 5 * time.Second
	maxUnsentBytes = 8 << 20 // bytes that are kept while an existing system cannot be reached

	maxUnsortedBytes = 64 << 20 // bytes that have arrived and were not looked at yet
)

// connect makes our own connection: inside the process to the embedded server, or to the existing
// system, which may be unreachable at the moment.
func (b *Bus) connect(ctx context.Context) error {
	opts := []nats.Option{
		nats.Name("parley " + b.opts.Alias.String()),
		nats.NoEcho(),
		nats.Timeout(connectWait),
		nats.FlusherTimeout(closeWait),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectWait, reconnectWait),
		nats.ReconnectBufSize(maxUnsentBytes),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(maxPings),
		nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(b.connectionError),
		nats.DisconnectErrHandler(b.disconnected),
		nats.ReconnectHandler(func(*nats.Conn) { b.connected() }),
	}
	inner, err := b.inner.PublicKey()
	if err != nil {
		return fmt.Errorf("cannot read the server's own key: %w", err)
	}
	if b.server != nil {
		opts = append(opts, nats.InProcessServer(b.server), nats.Nkey(inner, b.inner.Sign))
	} else {
		existing, err := b.system.options()
		if err != nil {
			return fmt.Errorf("cannot connect to NATS: %w", err)
		}
		opts = append(opts, existing...)
	}
	conn, err := nats.Connect(b.opts.URL, opts...)
	for began := time.Now(); err != nil && b.server != nil && time.Since(began) < startWait && wait.Sleep(ctx, reconnectWait); {
		b.opts.Log.Info().Err(err).Msg("the embedded NATS server is slow to answer")
		conn, err = nats.Connect(b.opts.URL, opts...)
	}
	if err != nil {
		return fmt.Errorf("cannot connect to NATS: %w", err)
	}
	b.conn = conn
	b.teardown.push("end of the connection", b.disconnect)
	return nil
}

// options are the options for an existing system. They say who this host is there.
func (s *system) options() ([]nats.Option, error) {
	b := s.bus
	if err := b.opts.Login.Check(); err != nil {
		return nil, err
	}
	opts, err := b.opts.Login.options(b.opts.URL, b.opts.Key)
	if err != nil {
		return nil, err
	}
	if b.opts.Login.ownKey(b.opts.URL) && greets(b.opts.URL, b.opts.Login) {
		opts = append(opts, nats.SetCustomDialer(dialer{timeout: connectWait}))
	}
	return append(opts,
		nats.RetryOnFailedConnect(true),
		nats.ConnectHandler(func(*nats.Conn) { b.connected() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { s.disconnected(err) }),
	), nil
}

// disconnect sends what was published and closes the connection.
func (b *Bus) disconnect() error {
	var err error
	if b.conn.IsConnected() {
		err = b.conn.FlushTimeout(closeWait)
	}
	b.conn.Close()
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("what was published last may not have been sent: %w", err)
	}
	return nil
}

// connected runs whenever the connection is made, and again after a break. Something may have been
// missed during the break.
func (b *Bus) connected() {
	if b.system != nil {
		b.system.connected() // this tells others that it can be used
		return
	}
	b.queue.linked()
}

func (b *Bus) disconnected(_ *nats.Conn, err error) {
	if b.ctx.Err() != nil {
		return
	}
	if b.system != nil {
		b.system.disconnected(err)
		b.queue.unlinked("")
	}
	b.opts.Log.Info().Err(err).Msg("the connection to NATS is lost")
}

func (b *Bus) connectionError(_ *nats.Conn, sub *nats.Subscription, err error) {
	if b.discover.forbidden(err) {
		b.opts.Log.Debug().Err(err).Msg("this host cannot be found as a NATS service")
		return
	}
	if b.system != nil && b.system.reported(err) {
		return
	}
	e := b.quiet.Warn().Err(err)
	if sub != nil {
		e = e.Str("subject", sub.Subject)
	}
	e.Msg("NATS reports a problem")
}

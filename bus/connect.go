package bus

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	connectWait    = 5 * time.Second
	maxUnsentBytes = 8 << 20 // kept while an existing system is out of reach

	maxUnsortedBytes = 64 << 20 // that arrived and were not looked at yet
)

// connect makes our own connection: in process to the embedded server, or to
// the existing system, which may be out of reach for now.
func (b *Bus) connect() error {
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
	if b.server != nil {
		opts = append(opts, nats.InProcessServer(b.server), nats.Nkey(b.key, b.opts.Key.Sign))
	} else {
		opts = append(opts, b.existingOptions()...)
	}
	conn, err := nats.Connect(b.opts.URL, opts...)
	if err != nil {
		return fmt.Errorf("cannot connect to NATS: %w", err)
	}
	b.conn = conn
	b.teardown.push("end of the connection", b.disconnect)
	return nil
}

// existingOptions prove our key to an existing system, unless the URL itself
// says who we are there.
func (b *Bus) existingOptions() []nats.Option {
	opts := []nats.Option{
		nats.RetryOnFailedConnect(true),
		nats.ConnectHandler(func(*nats.Conn) { b.connected() }),
		nats.SetCustomDialer(dialer{timeout: connectWait}),
	}
	if !hasUser(b.opts.URL) {
		opts = append(opts, nats.Nkey(b.key, b.opts.Key.Sign))
	}
	return opts
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

// connected runs whenever the connection is made, and again after a break, in
// which we may have missed something.
func (b *Bus) connected() {
	if b.server == nil {
		b.links.connected(b.opts.Now())
	}
	b.queue.linked()
}

func (b *Bus) disconnected(_ *nats.Conn, err error) {
	if b.ctx.Err() != nil {
		return
	}
	if b.server == nil {
		b.links.disconnected(b.opts.Now(), err)
	}
	b.opts.Log.Info().Err(err).Msg("the connection to NATS is lost")
}

func (b *Bus) connectionError(_ *nats.Conn, sub *nats.Subscription, err error) {
	if b.discover.forbidden(err) {
		b.opts.Log.Debug().Err(err).Msg("this host cannot be found as a NATS service")
		return
	}
	e := b.opts.Log.Warn().Err(err)
	if sub != nil {
		e = e.Str("subject", sub.Subject)
	}
	e.Msg("NATS reports a problem")
}

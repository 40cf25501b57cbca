package node

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// PingHost answers control.PingHost.
func (n *Node) PingHost(ctx context.Context, r control.PingRequest) (control.Ping, error) {
	host, err := n.directory.Host(ctx, control.HostRequest{Alias: r.Alias})
	if err != nil {
		return control.Ping{}, err
	}
	if err := askable(host, "ping"); err != nil {
		return control.Ping{}, err
	}
	if r.Within <= 0 {
		r.Within = presence.AskWait
	}
	ctx, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	ping, err := n.asker.Ping(ctx, host.Alias)
	if err != nil {
		return ping, asError(noAnswer(host.Alias, r.Within, err))
	}
	return ping, nil
}

// noAnswer is why a host did not answer, in words for people.
func noAnswer(host protocol.Name, within time.Duration, err error) error {
	switch {
	case presence.HasAnswered(err):
		return control.Errorf(control.KindFailed, "", "%s", err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return control.Errorf(control.KindFailed, "how it can be reached: parley host show "+host.String(), "%s did not answer within %s", host, within)
	}
	return err
}

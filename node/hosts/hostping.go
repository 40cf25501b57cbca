package hosts

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// questioner asks other hosts what a person wants to know about them: how far away they are, where
// they can be dialled, their certificates, how they are doing.
type questioner struct {
	*Options
	directory *Directory
	hubs      *hubs
	reporter  *reporter
}

// PingHost answers control.PingHost.
func (q *questioner) PingHost(ctx context.Context, r control.PingRequest) (control.Ping, error) {
	host, err := q.directory.Host(ctx, control.HostRequest{Alias: r.Alias})
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
	ping, err := q.Asker.Ping(ctx, host.Alias)
	if err != nil {
		return ping, writing.AsError(NoAnswer(host.Alias, r.Within, err))
	}
	return ping, nil
}

// NoAnswer says why a host did not answer, in words for people.
func NoAnswer(host protocol.Name, within time.Duration, err error) error {
	switch {
	case presence.HasAnswered(err):
		return control.Errorf(control.KindFailed, "", "%s", err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return control.Errorf(control.KindFailed, "how it can be reached: parley fleet show "+host.String(), "%s did not answer within %s", host, within)
	}
	return err
}

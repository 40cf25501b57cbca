package talk

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// reattachEvery is how often a follower looks whether its node is back.
	reattachEvery = 250 * time.Millisecond
	// catchUp is how many of the last messages are searched for those that came while the node was
	// away.
	catchUp = 1000
)

// follower shows messages as they come. It goes on after the node was restarted.
type follower struct {
	client control.Service
	show   func(control.Message) error
	away   func() // called when the node went away
	back   func() // called when it is back
}

// run calls `show` with each message that `r` asks for, once, until `ctx` ends or `show` fails. If
// the node cannot be reached at first, it returns an error. If the node goes away later, it waits
// for it.
func (f follower) run(ctx context.Context, r control.LogRequest) error {
	r.Follow = true
	seen := map[protocol.Path]bool{}
	var failed error
	var first time.Time // that of the first message shown of a channel: what stands before it is old
	if _, err := control.ShowStatus.Ask(ctx, f.client); err != nil {
		return err
	}
	for {
		met := first.IsZero()
		err := control.Log.Ask(ctx, f.client, r, func(m control.Message) error {
			met = met || seen[m.Path]
			if seen[m.Path] || !met && m.Timestamp.Before(first) {
				return nil
			}
			if seen[m.Path] = true; first.IsZero() && r.Channel != "" {
				first = m.Timestamp
			}
			failed = f.show(m)
			return failed
		})
		if ctx.Err() != nil {
			return nil
		}
		if failed != nil || !nodeAway(err) {
			return err
		}
		f.away()
		if !f.await(ctx) {
			return nil
		}
		f.back()
		r.Last = catchUp
	}
}

// await returns once the node answers again. It returns false if `ctx` ended first.
func (f follower) await(ctx context.Context) bool {
	for wait.Sleep(ctx, reattachEvery) {
		if _, err := control.ShowStatus.Ask(ctx, f.client); err == nil {
			return true
		}
	}
	return false
}

// nodeAway reports whether an error says that the node stopped or crashed.
func nodeAway(err error) bool {
	var e *control.Error
	return errors.As(err, &e) && e.Kind == control.KindUnavailable
}

package node

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
)

const (
	catchUpPoll = 100 * time.Millisecond
	// firstFetch is how long the first look at the remote is waited for.
	firstFetch = 10 * time.Second
)

// showCatchUp shows a person at a terminal how far a node has come with what others wrote while it
// was away, if that takes longer than a second. It returns when everything is taken in.
func showCatchUp(ctx context.Context, client control.Service, v cli.View) {
	if !v.Err.Terminal || v.JSON {
		return
	}
	bar := v.Progress("catching up")
	defer bar.End()
	for began := time.Now(); ; {
		s, err := control.ShowStatus.Ask(ctx, client)
		switch r := s.Record; {
		case err != nil:
			return
		case r.Arriving > 0:
			bar.Show(r.Arrived, r.Arriving)
		case r.Remote == "" || r.Trouble != nil || !r.LastFetch.IsZero() || time.Since(began) > firstFetch:
			return
		default:
			bar.Say("")
		}
		if !wait.Sleep(ctx, catchUpPoll) {
			return
		}
	}
}

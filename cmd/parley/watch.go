package main

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// watchEvery is the time between two questions how far a node has come.
const watchEvery = 250 * time.Millisecond

// watch tells a person at a terminal how far the node has come with what was asked of
// it, as ask says, once that takes longer than a second. done ends it. A node that does
// not know the question is waited for in silence.
func (v view) watch(ctx context.Context, what string, progress control.Question[control.Progress], client control.Service) (done func()) {
	if !v.err.Terminal || v.json {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	line := v.progress(what)
	var asking sync.WaitGroup
	asking.Go(func() { // ends with done
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			far, err := progress.Ask(ctx, client)
			if err != nil {
				return
			}
			line.show(far.Done, far.Total)
		}
	})
	return func() {
		cancel()
		asking.Wait()
		line.end()
	}
}

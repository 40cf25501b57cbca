package cli

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// watchEvery is the time between two questions how far a node has come.
const watchEvery = 250 * time.Millisecond

// Watch tells a person at a terminal how far the node has come with what was asked of
// it, as ask says, once that takes longer than a second. done ends it. A node that does
// not know the question is waited for in silence.
func (v View) Watch(ctx context.Context, what string, progress control.Question[control.Progress], client control.Service) (done func()) {
	if !v.Err.Terminal || v.JSON {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	line := v.Progress(what)
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
			line.Show(far.Done, far.Total)
		}
	})
	return func() {
		cancel()
		asking.Wait()
		line.End()
	}
}

package cli

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// watchEvery is the time between two questions about how far a node has come.
const watchEvery = 250 * time.Millisecond

// Watch tells a person at a terminal how far the node has come with a request, if that takes longer
// than a second. It asks the node by the question `progress`. `done` ends it. If the node does not
// know that question, the wait is silent.
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

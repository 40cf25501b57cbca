package bus

import (
	"context"
	"sync"
	"testing"
)

// However many look at the links at a time, each link is told once. It prevents: who has
// looked before a link ended writes down what it saw after another has noted the end, and
// the host is told of a link that is gone. What it says then reaches nobody.
func TestLinksAreToldOnceHoweverManyLook(t *testing.T) {
	t.Parallel()
	hub, leaf := pair(t)
	ctx, stop := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	for range 8 {
		looking.Go(func() { // until stop
			for ctx.Err() == nil {
				leaf.Links()
			}
		})
	}
	const links = 12
	for n := 2; n <= links; n++ {
		leaf.dialler.drop()
		leaf.awaitLinked(t, n)
	}
	stop()
	looking.Wait()
	hub.nothingButMarker(t, leaf, 1)
	leaf.mu.Lock()
	defer leaf.mu.Unlock()
	if leaf.linked != links {
		t.Errorf("%d links were told of %d", leaf.linked, links)
	}
}

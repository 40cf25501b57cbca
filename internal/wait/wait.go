// Package wait has what goroutines use to wait for each other, or for some time.
package wait

import (
	"context"
	"sync"
	"time"
)

// Nudge leaves a token in a channel that holds one, for the goroutine that waits there. It never
// blocks.
func Nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Background calls each function in a goroutine of its own, until `stop` is called: it ends their
// context, and returns when they have returned.
func Background(run ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, one := range run {
		running.Go(func() { one(ctx) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// Change tells goroutines that something has changed. It is safe for concurrent use.
type Change struct {
	mu   sync.Mutex    // guards next
	next chan struct{} // nil while nobody waits
}

// Next returns a channel that is closed at the next change.
func (c *Change) Next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// Tell says that there is one.
func (c *Change) Tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Sleep waits for `d`. It returns false if `ctx` ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

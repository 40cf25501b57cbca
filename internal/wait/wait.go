// Package wait has what goroutines use to wait for each other, or for some time.
package wait

import (
	"context"
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

package bus

import (
	"sync/atomic"
	"time"
)

// tally counts what is under way. Unlike a WaitGroup, it may be entered while somebody waits.
type tally struct{ atomic.Int32 }

// wait waits until nothing is under way, for at most `most`.
func (t *tally) wait(most time.Duration) {
	for end := time.Now().Add(most); t.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

package bus

import (
	"sync"
	"time"
)

// tally counts what is under way, and lets one goroutine wait until nothing is. Unlike a WaitGroup,
// it may be entered during the wait.
type tally struct {
	mu   sync.Mutex // guards n and zero
	n    int
	zero chan struct{} // closed when n becomes 0; nil while nobody waits
}

func (t *tally) enter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *tally) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.zero != nil {
		close(t.zero)
		t.zero = nil
	}
}

// wait waits until nothing is under way, for at most `most`. Only one goroutine may wait.
func (t *tally) wait(most time.Duration) {
	t.mu.Lock()
	if t.n == 0 {
		t.mu.Unlock()
		return
	}
	zero := make(chan struct{})
	t.zero = zero
	t.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-zero:
	case <-timer.C:
	}
}

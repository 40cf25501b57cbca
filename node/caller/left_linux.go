package caller

import (
	"os"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/process"
)

const (
	tokenVariable = "PARLEY_TOKEN"
	// endLeftWithin is how long a start tries to end what goes on starting others.
	endLeftWithin = 2 * time.Second
)

// EndLeft ends what the runs of earlier nodes of this home have left, as far as the
// environment tells it, and returns how many processes that were. It is for where a node was
// killed together with its keepers and there were no control groups (R37): who has cleared
// the environment too is not found. What this process comes from itself is let be.
func (b *Book) EndLeft() int {
	own, _ := process.Environment(os.Getpid(), tokenVariable)
	ended := map[int]bool{} // one that is about to die is found again
	for began := time.Now(); time.Since(began) < endLeftWithin; {
		before := len(ended)
		for _, pid := range process.All() {
			left := func() bool {
				text, ok := process.Environment(pid, tokenVariable)
				return ok && text != own && b.ofEarlierRun(text)
			}
			if left() && process.Signal(pid, syscall.SIGKILL, left) {
				ended[pid] = true
			}
		}
		if len(ended) == before { // and nothing was started meanwhile
			break
		}
	}
	return len(ended)
}

// ofEarlierRun reports whether a token was given to a run that this node did not begin.
func (b *Book) ofEarlierRun(text string) bool {
	t, ok := b.read(text)
	if !ok || t.Run == "" {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[t.Run] == nil
}

package caller

import (
	"os"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/process"
)

const (
	tokenVariable = "PARLEY_TOKEN"
	// endLeftWithin is how long a start tries to end processes that go on starting others.
	endLeftWithin = 2 * time.Second
)

// EndLeft ends the processes that runs of earlier nodes of this home have left, as far as their
// environment shows it. It returns how many they were. It is for a node that was killed together
// with its keepers on a system without control groups (R37). A process that has cleared its
// environment is not found. The run in which this process itself was started, if any, is left
// alone.
func (b *Book) EndLeft() int {
	own, _ := process.Environment(os.Getpid(), tokenVariable)
	ended := map[int]bool{} // a process that is about to die is found again
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
		if len(ended) == before { // nothing was started in the meantime
			break
		}
	}
	return len(ended)
}

// ofEarlierRun reports whether a token belongs to a run that this node did not begin.
func (b *Book) ofEarlierRun(text string) bool {
	t, ok := b.read(text)
	if !ok || t.Run == "" {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[t.Run] == nil
}

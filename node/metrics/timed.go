package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// maxTimed is how many messages are timed at once: the newest ones.
const maxTimed = 10_000

// stage is how far a message has come after it was stored.
type stage int

const (
	heard    stage = iota // another host has stored it
	recorded              // it is committed here
	pushed                // the remote has it
	stages                // how many there are
)

func (s stage) String() string { return [stages]string{"heard", "recorded", "pushed"}[s] }

// timed are messages of this host on their way.
type timed struct {
	mu    sync.Mutex // guards what follows
	all   map[protocol.Path]*journey
	order [maxTimed]protocol.Path // a ring: a new message replaces the one that was timed maxTimed messages before
	next  int
}

// journey is when a message was stored, and where it has been since.
type journey struct {
	began time.Time
	been  [stages]bool
}

func newTimed() *timed { return &timed{all: map[protocol.Path]*journey{}} }

// begin times messages that were stored at `at`.
func (t *timed) begin(paths []protocol.Path, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths {
		delete(t.all, t.order[t.next])
		t.all[p], t.order[t.next] = &journey{began: at}, p
		t.next = (t.next + 1) % maxTimed
	}
}

func (t *timed) reached(paths []protocol.Path, s stage, at time.Time) (took []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths {
		j := t.all[p]
		if j == nil || j.been[s] {
			continue
		}
		j.been[s] = true
		took = append(took, at.Sub(j.began))
		if !slices.Contains(j.been[:], false) { // another host may be slower to say so than the remote
			delete(t.all, p)
		}
	}
	return took
}

package bench

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// arrivals notes when messages come to a node's Receive, as the node's log tells
// at the level trace.
type arrivals struct {
	mu    sync.Mutex // guards what follows
	at    map[string]time.Time
	byBus int // of the messages in at, those that came by the bus first
	want  int
	all   chan struct{} // closed when at has as many as are wanted; nil: nobody waits
}

func newArrivals() *arrivals { return &arrivals{at: map[string]time.Time{}} }

// log is a log that writes into a.
func (a *arrivals) log() zerolog.Logger { return zerolog.New(a).Level(zerolog.TraceLevel) }

// Write implements io.Writer. zerolog calls WriteLevel instead.
func (a *arrivals) Write(line []byte) (int, error) { return len(line), nil }

// WriteLevel implements zerolog.LevelWriter.
func (a *arrivals) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	now := time.Now()
	if level != zerolog.TraceLevel {
		return len(line), nil
	}
	var said struct{ Path, By, Message string }
	if err := json.Unmarshal(line, &said); err == nil && said.Message == "came in" {
		a.note(said.Path, said.By == "bus", now)
	}
	return len(line), nil
}

func (a *arrivals) note(path string, byBus bool, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, again := a.at[path]; again {
		return
	}
	a.at[path] = now
	if byBus {
		a.byBus++
	}
	if a.all != nil && len(a.at) == a.want {
		close(a.all)
		a.all = nil
	}
}

// forget begins anew, and returns what is closed when n messages have come.
func (a *arrivals) forget(n int) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make(chan struct{})
	a.at, a.byBus, a.want, a.all = map[string]time.Time{}, 0, n, all
	return all
}

// of is when a message came; the zero time where it has not.
func (a *arrivals) of(path string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at[path]
}

// last is when the last message came that came first of all.
func (a *arrivals) last() (at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.at {
		if t.After(at) {
			at = t
		}
	}
	return at
}

// counts are how many messages have come, and how many of them by the bus.
func (a *arrivals) counts() (all, byBus int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at), a.byBus
}

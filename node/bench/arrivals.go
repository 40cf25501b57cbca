package bench

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// arrivals notes when messages come to a node's Receive, as the node's log tells
// at the level trace.
type arrivals struct {
	mu sync.Mutex // guards at
	at map[string]arrival
}

// arrival is the first time that a message came.
type arrival struct {
	at    time.Time
	byBus bool
}

func newArrivals() *arrivals { return &arrivals{at: map[string]arrival{}} }

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
	if _, again := a.at[path]; !again {
		a.at[path] = arrival{now, byBus}
	}
}

// of is when a message came; the zero time if it has not.
func (a *arrivals) of(path string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at[path].at
}

// count is how many of these messages have come, how many of them by the bus, and
// when the last one did.
func (a *arrivals) count(paths map[string]bool) (all, byBus int, last time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range paths {
		came, ok := a.at[p]
		if !ok {
			continue
		}
		all++
		if came.byBus {
			byBus++
		}
		if came.at.After(last) {
			last = came.at
		}
	}
	return all, byBus, last
}

// awaitArrivals waits until these messages have come at all hosts of `all`, or patience ends. It
// reports whether they have.
func (s *stand) awaitArrivals(ctx context.Context, paths map[string]bool, all ...*arrivals) (bool, error) {
	err := until(ctx, "all messages had come", 20*time.Millisecond, func() (bool, error) {
		for i, a := range all {
			if came, _, _ := a.count(paths); came < len(paths) {
				s.progress("received by all", i, len(all))
				return false, nil
			}
		}
		return true, nil
	})
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil, nil
}

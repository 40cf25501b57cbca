package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// steadyRate is how many messages a second the measure of lag stores.
const steadyRate = 2000

func lagMeasure() Measure {
	const git = `one "git add" and "git commit"`
	return Measure{
		Name: "lag", What: fmt.Sprintf("%d messages a second are stored, evenly", steadyRate), take: takeLag,
		Figures: []Spec{
			{Name: "lag_p50", Unit: "ms", What: "at 2,000 a second, from stored to recorded: median", Better: Lower, Beside: git},
			{Name: "lag_p99", Unit: "ms", What: "at 2,000 a second, from stored to recorded: 99 of 100 take no longer", Better: Lower, Beside: git, Aim: 250, AimOn: OnValue},
		},
	}
}

// lagClock notes when each message was stored and when it was recorded.
type lagClock struct {
	mu       sync.Mutex // guards what follows
	stored   map[protocol.Path]time.Time
	recorded map[protocol.Path]time.Time
	want     int
	done     chan struct{} // closed when all were recorded
}

func newLagClock(want int) *lagClock {
	return &lagClock{stored: map[protocol.Path]time.Time{}, recorded: map[protocol.Path]time.Time{}, want: want, done: make(chan struct{})}
}

func (c *lagClock) store(p protocol.Path) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored[p] = now
}

func (c *lagClock) record(paths []protocol.Path) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range paths {
		c.recorded[p] = now
	}
	if len(c.recorded) == c.want {
		close(c.done)
	}
}

// lags are the times from stored to recorded. A sender may learn that its message is stored only
// after Recorded was called: then there was no lag.
func (c *lagClock) lags() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	lags := make([]time.Duration, 0, len(c.stored))
	for p, at := range c.stored {
		lags = append(lags, max(0, c.recorded[p].Sub(at)))
	}
	return lags
}

func takeLag(ctx context.Context, s *stand) (_ readings, err error) {
	n := s.count(10, 1) * steadyRate
	clock := newLagClock(n)
	r, err := s.newRecord(ctx, clock.record)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	letters, err := s.lettersOfADay(ctx, r.ID(), n)
	if err != nil {
		return nil, err
	}
	took, err := s.storeEvenly(ctx, letters, func(ctx context.Context, l gitsync.MessageFile) error {
		if err := r.Append(ctx, []gitsync.MessageFile{l}); err != nil {
			return err
		}
		clock.store(l.Path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := await(ctx, "all messages were recorded", clock.done); err != nil {
		return nil, err
	}
	lags := clock.lags()
	note := ""
	if rate := perSecond(n, took); rate < steadyRate*95/100 {
		note = fmt.Sprintf("only %.0f a second could be stored", rate)
	}
	taken := readings{}
	commit, err := s.tools.commitTime(ctx)
	for name, p := range map[string]int{"lag_p50": 50, "lag_p99": 99} {
		taken[name] = reading{value: milliseconds(percentile(lags, p)), yardstick: milliseconds(commit), note: note}
	}
	var noGit skipped
	if errors.As(err, &noGit) {
		err = nil // only the yardstick is missing
	}
	return taken, err
}

// storeEvenly begins to store steadyRate letters in each second, whether earlier ones are done or
// not. It returns when all are.
func (s *stand) storeEvenly(ctx context.Context, letters []gitsync.MessageFile, store func(context.Context, gitsync.MessageFile) error) (time.Duration, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	due := make(chan gitsync.MessageFile, len(letters))
	var working sync.WaitGroup
	for range 2 * senders {
		working.Go(func() {
			for l := range due {
				if err := store(ctx, l); err != nil {
					fail(err)
					return
				}
			}
		})
	}
	began := time.Now()
	for i, l := range letters {
		if i%steadyRate == 0 {
			s.progress("storing 2,000 a second", i, len(letters))
		}
		if ahead := time.Until(began.Add(time.Duration(i) * time.Second / steadyRate)); ahead > 0 {
			time.Sleep(ahead)
		}
		if ctx.Err() != nil {
			break
		}
		due <- l
	}
	close(due)
	working.Wait()
	return time.Since(began), context.Cause(ctx)
}

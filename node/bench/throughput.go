package bench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// senders store at a time in the measure of throughput.
const senders = 64

func throughputMeasure() Measure {
	const git = `"git add" and "git commit" of each message`
	return Measure{
		Name: "throughput", What: "64 senders store as fast as they can, in one channel on one day", take: takeThroughput,
		Figures: []Spec{
			{Name: "stored_rate", Unit: "/s", What: "64 senders: messages stored a second", Better: Higher,
				Beside: "append and fsync of each, one at a time"},
			{Name: "recorded_rate", Unit: "/s", What: "64 senders: messages a second until the last is in a commit", Better: Higher,
				Beside: git, Aim: 10_000, AimOn: OnValue, Full: true},
			{Name: "recorded_vs_git", Unit: "/s", What: "recorded_rate again: its ratio is what counts here", Better: Higher, Beside: git,
				Aim: 100, AimOn: OnRatio},
		},
	}
}

func takeThroughput(ctx context.Context, s *stand) (_ readings, err error) {
	n := s.count(100_000, 10_000)
	var recorded atomic.Int64
	done := make(chan struct{})
	r, err := s.newRecord(ctx, func(paths []protocol.Path) {
		if now := recorded.Add(int64(len(paths))); now == int64(n) {
			close(done)
		} else {
			s.progress("storing with 64 senders: recorded", int(now), n)
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	letters, err := s.lettersOfADay(ctx, r.ID(), n)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := storeAll(ctx, r.Record, letters); err != nil {
		return nil, err
	}
	storing := time.Since(began)
	if err := await(ctx, "all messages were recorded", done); err != nil {
		return nil, err
	}
	recording := time.Since(began)
	bare, err := s.bareRate(letters[:s.count(2000, 500)])
	if err != nil {
		return nil, err
	}
	s.progress("keeping messages with the git program", 0, 0)
	commit, err := s.tools.commitTime(ctx)
	var noGit skipped
	if err != nil && !errors.As(err, &noGit) {
		return nil, err
	}
	taken := readings{"stored_rate": {value: perSecond(n, storing), yardstick: bare}}
	rate := reading{value: perSecond(n, recording)}
	if commit > 0 {
		rate.yardstick = perSecond(1, commit)
		taken["recorded_vs_git"] = rate
	}
	taken["recorded_rate"] = rate
	return taken, err
}

// storeAll has all senders store letters, one at a time each.
func storeAll(ctx context.Context, r *gitsync.Record, letters []gitsync.MessageFile) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var working sync.WaitGroup
	for range senders {
		working.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(letters) || ctx.Err() != nil {
					return
				}
				if err := r.Append(ctx, letters[i:i+1]); err != nil {
					fail(err)
				}
			}
		})
	}
	working.Wait()
	return context.Cause(ctx)
}

// bareRate is how many messages a second the bare disk takes.
func (s *stand) bareRate(letters []gitsync.MessageFile) (_ float64, err error) {
	bare, err := openBare(s.path("bare"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	began := time.Now()
	for _, l := range letters {
		if err := bare.append(l.Data); err != nil {
			return 0, err
		}
	}
	return perSecond(len(letters), time.Since(began)), nil
}

package gitsync

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

// loop fetches at its interval and after bells. It pushes what is new and this node's to push. If
// one of the two fails, it is tried again with growing pauses. While fetching fails, pushing would
// fail as well. A push that is due comes between two fetches, also if a fetch takes longer than the
// interval.
func (s *sharer) loop(ctx context.Context) {
	ctx, done := s.online.during(ctx)
	defer done()
	fetch := effort{do: s.fetch, apart: s.opts.FetchInterval, trouble: &s.contact.fetchTrouble}
	push := effort{do: s.pushUntilTaken, apart: s.opts.PushInterval, trouble: &s.contact.pushTrouble}
	for ctx.Err() == nil {
		from, lacking := s.courier.pushFrom(s.progress.lag(), s.contact.usableSince())
		now := time.Now()
		pushes := lacking && fetch.failures == 0 && !now.Before(push.due) && !now.Before(from)
		switch {
		case !now.Before(fetch.due) && !(pushes && fetch.end.After(push.end)):
			failed := fetch.failures > 0
			fetch.make(ctx, s)
			if failed && fetch.failures == 0 {
				push.due = fetch.start // what kept us from fetching may have kept us from pushing
			}
		case pushes:
			many := s.lacksMany()
			push.make(ctx, s)
			if many { // without this, git would take half of the processors in a burst
				push.rest()
			}
		default:
			until := fetch.due
			if next := later(push.due, from); lacking && fetch.failures == 0 && next.Before(until) {
				until = next
			}
			s.awaitShare(ctx, &fetch, &push, until)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// effort is one of the two things that the loop does again and again.
type effort struct {
	do         func(context.Context) error
	apart      time.Duration // least time between two starts
	trouble    **Trouble     // where contact keeps its trouble
	due        time.Time
	start, end time.Time // of the last time
	failures   int
}

func (e *effort) make(ctx context.Context, s *sharer) {
	e.start = time.Now()
	s.mu.Lock()
	err := e.do(ctx)
	s.mu.Unlock()
	e.end = time.Now()
	e.due = e.start.Add(e.apart)
	if err == nil {
		e.failures = 0
		return
	}
	e.failures++
	kind, _ := s.contact.kindOf(err)
	e.due = later(e.due, e.end.Add(pauseAfter(kind, e.failures)))
	s.contact.nextTry(e.trouble, e.due.Sub(e.end))
}

func (e *effort) took() time.Duration { return e.end.Sub(e.start) }

// rest postpones the next time by shareRest times as long as the last one took, by pushRest at most.
// A failure has pauses of its own.
func (e *effort) rest() {
	if e.failures == 0 {
		e.due = later(e.due, e.end.Add(min(shareRest*e.took(), pushRest)))
	}
}

// awaitShare waits until something is due, or a bell says that it may be.
func (s *sharer) awaitShare(ctx context.Context, fetch, push *effort, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.pushBell:
	case <-s.retryBell:
		for _, e := range []*effort{fetch, push} {
			if e.failures > 0 {
				e.due = time.Now()
			}
		}
	case <-s.fetchBell:
		apart := ringApart
		if s.courier.waits(s.progress.lag()) {
			apart = ringSooner
		}
		apart = max(apart, shareRest*fetch.took()) // what a fetch brings has come by the bus already
		soon := later(time.Now().Add(rand.N(ringJitter)), fetch.end.Add(apart))
		if fetch.failures == 0 && soon.Before(fetch.due) {
			fetch.due = soon
		}
	case <-ctx.Done():
	}
}

// jitter is how long to wait before a rejected push is tried again, as the record's own files say
// (Crosstalk, JITTER.md). Only one goroutine uses it at a time.
type jitter struct {
	main   *Reader
	log    zerolog.Logger
	warned string // the last warning
}

// pause is how long to wait before the push is tried again for the n-th time, where n is `attempt`.
func (j *jitter) pause(attempt int) time.Duration {
	return rand.N(j.rule().Limit(attempt))
}

// rule is what main says about it now. A file that cannot be read causes one warning, and is passed
// over.
func (j *jitter) rule() protocol.Jitter {
	trouble := ""
	rule := protocol.DefaultJitter
	for _, path := range protocol.JitterFiles {
		data, ok, err := j.main.ReadFile(path)
		if err == nil && !ok {
			continue
		}
		if err == nil {
			rule, err = protocol.ParseJitter(data)
		}
		if err == nil {
			break
		}
		rule = protocol.DefaultJitter
		trouble += path + ": " + err.Error() + "; "
	}
	if trouble != "" && trouble != j.warned {
		j.log.Warn().Msg("a rule for rejected pushes is passed over: " + trouble + "mend it by git")
	}
	j.warned = trouble
	return rule
}

package gitsync

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	coalesce   = 2 * time.Millisecond   // letters that come within it share a commit
	mainPoll   = 500 * time.Millisecond // between looks at whether somebody else moved main
	ringApart  = 2 * time.Second        // least time between two fetches because of a bell
	ringJitter = 200 * time.Millisecond // so that a fleet does not fetch in one instant
	retryFirst = 100 * time.Millisecond
	retryLast  = 5 * time.Second
	remoteWait = 30 * time.Second // longest pause while the remote cannot be used
	drainLimit = 3 * time.Second  // for the last push
)

// Run commits, pushes and fetches until ctx ends. Then it commits all that is
// stored and tries one last push, for at most three seconds; what that does not
// bring away stays in the journal. It returns an error only if the last commit
// failed. Run it once.
func (r *Record) Run(ctx context.Context) error {
	if r.isClosed() {
		return fmt.Errorf("cannot run: %w", ErrClosed)
	}
	var loops, telling sync.WaitGroup
	tell, stopTelling := context.WithCancel(context.WithoutCancel(ctx))
	defer stopTelling()
	telling.Go(func() { r.events.run(tell) })
	loops.Go(func() { r.commitLoop(ctx) })
	if r.opts.Remote != "" {
		loops.Go(func() { r.shareLoop(ctx) })
	}
	loops.Wait()
	err := r.drain(context.WithoutCancel(ctx))
	stopTelling()
	telling.Wait()
	r.events.deliver()
	return err
}

func (r *Record) drain(ctx context.Context) error {
	if err := r.commit(ctx, true); err != nil {
		return err
	}
	if !r.needsPush() {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, drainLimit, errors.New("the node stops"))
	defer cancel()
	r.share.Lock()
	defer r.share.Unlock()
	if err := r.pushUntilTaken(ctx); err != nil {
		r.log.Info().Err(err).Msg("the last push did not succeed; it is made up for at the next start")
	}
	return nil
}

// Ring says that the remote moved, as another host tells it: fetch soon. Many
// bells make one fetch.
func (r *Record) Ring() { ring(r.fetchBell) }

// commitLoop commits whenever letters were stored, a grace is over or somebody
// else may have moved main. A commit that fails is tried again, for ever.
func (r *Record) commitLoop(ctx context.Context) {
	failures := 0
	for {
		pause := mainPoll
		if grace, ok := r.nextGrace(); ok && grace < pause {
			pause = grace + time.Millisecond
		}
		if failures > 0 {
			pause = backoff(failures, retryLast)
			if !sleep(ctx, pause) {
				return
			}
		} else if !r.awaitCommit(ctx, pause) {
			return
		}
		err := r.commit(ctx, false)
		switch {
		case err == nil:
			failures = 0
		case ctx.Err() != nil:
			return
		default:
			failures++
			r.log.Error().Err(err).Msg("messages stay in the journal until they can be committed")
		}
		r.replaceDamaged()
		if err := r.store.Retire(); err != nil {
			r.log.Warn().Err(err).Msg("a replaced pack stays")
		}
	}
}

// awaitCommit waits for the bell, and a little longer for what comes with it.
func (r *Record) awaitCommit(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-r.commitBell:
		return sleep(ctx, coalesce)
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// shareLoop fetches at its interval and after bells, and pushes what is new.
// While one of them fails it is tried again with growing pauses.
func (r *Record) shareLoop(ctx context.Context) {
	fetch := effort{do: r.fetch, apart: r.opts.FetchInterval}
	push := effort{do: r.pushUntilTaken, apart: r.opts.PushInterval}
	for ctx.Err() == nil {
		switch {
		case fetch.isDue():
			fetch.make(ctx, r)
		case r.needsPush() && push.isDue():
			push.make(ctx, r)
		default:
			r.awaitShare(ctx, &fetch, push.due)
		}
	}
}

// effort is one of the two things that the share loop does again and again.
type effort struct {
	do       func(context.Context) error
	apart    time.Duration
	due      time.Time
	last     time.Time
	failures int
}

func (e *effort) isDue() bool { return !time.Now().Before(e.due) }

func (e *effort) make(ctx context.Context, r *Record) {
	r.share.Lock()
	err := e.do(ctx)
	r.share.Unlock()
	e.last = time.Now()
	e.due = e.last.Add(e.apart)
	if err == nil {
		e.failures = 0
		return
	}
	e.failures++
	e.due = e.last.Add(max(e.apart, backoff(e.failures, remoteWait)))
}

// awaitShare waits until something is due, or a bell says that it may be.
func (r *Record) awaitShare(ctx context.Context, fetch *effort, pushDue time.Time) {
	until := fetch.due
	if r.needsPush() && pushDue.Before(until) {
		until = pushDue
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.shareBell:
	case <-r.fetchBell:
		soon := time.Now().Add(rand.N(ringJitter))
		if next := fetch.last.Add(ringApart); next.After(soon) {
			soon = next
		}
		if fetch.failures == 0 && soon.Before(fetch.due) {
			fetch.due = soon
		}
	case <-ctx.Done():
	}
}

func backoff(failures int, limit time.Duration) time.Duration {
	if failures > 10 {
		return limit
	}
	return min(limit, retryFirst<<failures)
}

// sleep waits; it is false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

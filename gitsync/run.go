package gitsync

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

const (
	coalesce   = 2 * time.Millisecond   // messages that come within this time share a commit
	burstRest  = 5                      // the rest after a commit of many messages: that many times as long as the commit took
	burstApart = 150 * time.Millisecond // the longest such rest
	shareRest  = 5                      // the rest after a push of many messages: that many times as long as the push took; and after a fetch, until a bell makes another one
	pushRest   = 10 * time.Second       // the longest rest until the next push
	mainPoll   = 500 * time.Millisecond // time between checks whether somebody else has moved main
	ringApart  = 2 * time.Second        // least time between two fetches because of a bell
	ringSooner = time.Second            // the same, while messages of this node wait for another host's push
	ringJitter = 200 * time.Millisecond // a random delay up to this, so that not all hosts of a fleet fetch at the same instant
	retryFirst = 100 * time.Millisecond
	retryLast  = 5 * time.Second
	drainLimit = 2500 * time.Millisecond // time for the last push, unless StopBy sets less
	drainLeast = 500 * time.Millisecond
)

// Run commits, pushes and fetches until `ctx` ends. Then it commits everything that is stored and
// tries one last push, for a few seconds at most. What that push does not bring away stays in the
// journal. Run returns an error only if the last commit failed. Nothing is fetched or pushed after
// that. Call Run once.
func (r *Record) Run(ctx context.Context) error {
	if r.isClosed() {
		return fmt.Errorf("cannot run: %w", ErrClosed)
	}
	defer context.AfterFunc(ctx, r.online.end)()
	var loops, telling sync.WaitGroup
	tell, stopTelling := context.WithCancel(context.WithoutCancel(ctx))
	defer stopTelling()
	telling.Go(func() { r.tell.queue.run(tell) })
	loops.Go(func() { r.commitLoop(ctx) })
	loops.Go(func() {
		if r.awaitShare(ctx) {
			r.share.loop(ctx)
		}
	})
	loops.Wait()
	err := r.drain(context.WithoutCancel(ctx))
	stopTelling()
	telling.Wait()
	r.tell.queue.deliver()
	return err
}

func (r *Record) drain(ctx context.Context) error {
	if err := r.main.commit(ctx, true); err != nil {
		return err
	}
	if !r.progress.lag().behind {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.drainTime(), stopping{})
	defer cancel()
	r.share.mu.Lock()
	defer r.share.mu.Unlock()
	if err := r.share.pushUntilTaken(ctx); err != nil {
		r.log.Info().Err(err).Msg("the last push did not succeed; it is made up for at the next start")
	}
	return nil
}

// StopBy says that Run is about to be ended, and by when it should have ended. Nothing more is
// fetched or pushed, except for the last push, which ends by then. Everything that is stored is
// committed all the same.
func (r *Record) StopBy(at time.Time) {
	r.state.mu.Lock()
	r.state.stopBy = at
	r.state.mu.Unlock()
	r.online.end()
}

func (r *Record) drainTime() time.Duration {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if r.state.stopBy.IsZero() {
		return drainLimit
	}
	return min(drainLimit, max(drainLeast, time.Until(r.state.stopBy)-carrier.Linger))
}

// Ring says that the remote has moved, as another host tells it, and should be fetched soon. Many
// calls make one fetch.
func (r *Record) Ring() { ring(r.share.fetchBell) }

// Back says that a host of the fleet is there again. If it is the remote, what has failed is tried at
// once.
func (r *Record) Back(host protocol.Name) {
	if name, _, ok := gitremote.Host(r.opts.remote()); ok && name == host.String() {
		ring(r.share.retryBell)
	}
}

// commitLoop commits whenever messages were stored, a grace is over or somebody else may have moved
// main. It tries a failed commit again, for ever. In a burst it rests between two commits: each
// commit writes the day's list of files and the newest pack anew.
func (r *Record) commitLoop(ctx context.Context) {
	failures, rest := 0, time.Duration(0)
	for {
		pause := mainPoll
		if grace, ok := r.progress.nextGrace(r.courier.grace()); ok && grace < pause {
			pause = grace + time.Millisecond
		}
		if failures > 0 {
			pause = backoff(failures, retryLast)
			if !wait.Sleep(ctx, pause) {
				return
			}
		} else if rest > 0 {
			if !wait.Sleep(ctx, rest) {
				return
			}
		} else if !r.awaitCommit(ctx, pause) {
			return
		}
		began := time.Now()
		more, err := r.main.commitBurst(ctx)
		if ctx.Err() != nil {
			return
		}
		if rest = 0; more {
			rest = min(burstRest*time.Since(began), burstApart)
		}
		failures++
		if err == nil {
			failures = 0
		}
		r.noteCommit(err)
		r.replaceDamaged(ctx)
		r.room.look()
		if err := r.store.Retire(); err != nil {
			r.log.Warn().Err(err).Msg("a replaced pack stays")
		}
		r.notePacks()
	}
}

// notePacks notes which packs are there, if all of main is.
func (r *Record) notePacks() {
	if r.disk.broken() == "" {
		r.packs.write()
	}
}

// noteCommit keeps the outcome of a commit for Status. It logs the same trouble only once.
func (r *Record) noteCommit(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	r.state.mu.Lock()
	before := r.state.commitErr
	r.state.commitErr = text
	r.state.mu.Unlock()
	if (err == nil) != (before == "") {
		r.tell.stuck(Committing, err)
	}
	switch {
	case err == nil && before != "":
		r.log.Info().Msg("messages are committed again")
	case err != nil && before == "":
		r.log.Error().Err(err).Msg("messages stay in the journal until they can be committed")
	}
}

// awaitCommit waits for the bell, and a little longer for more messages.
func (r *Record) awaitCommit(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-r.commitBell:
		return wait.Sleep(ctx, coalesce)
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func backoff(failures int, limit time.Duration) time.Duration {
	if failures > 10 {
		return limit
	}
	return min(limit, retryFirst<<failures)
}

// Fetch looks at the remote now, and reports all events before it returns. Without a remote it
// takes in what another program did to main. If it succeeds, what failed before is tried again at
// once.
func (r *Record) Fetch(ctx context.Context) error {
	defer r.tell.queue.deliver()
	if r.isClosed() {
		return fmt.Errorf("cannot fetch: %w", ErrClosed)
	}
	if !r.opts.isShared() {
		return r.main.commit(ctx, false)
	}
	ctx, done := r.online.during(ctx)
	defer done()
	r.share.mu.Lock()
	defer r.share.mu.Unlock()
	err := r.share.fetch(ctx)
	if err == nil {
		ring(r.share.retryBell)
	}
	return err
}

// Sync commits everything that is stored, even messages that other hosts are to commit, pushes it
// and fetches, once. It reports all events before it returns. It does not need Run.
func (r *Record) Sync(ctx context.Context) error {
	defer r.tell.queue.deliver()
	if r.isClosed() {
		return fmt.Errorf("cannot sync: %w", ErrClosed)
	}
	defer r.replaceDamaged(ctx)
	if !r.opts.isShared() {
		return r.main.commit(ctx, true)
	}
	online, done := r.online.during(ctx)
	defer done()
	r.share.mu.Lock()
	defer r.share.mu.Unlock()
	if err := r.share.fetch(online); err != nil {
		return errors.Join(err, r.main.commit(ctx, true))
	}
	if err := r.main.commit(ctx, true); err != nil {
		return err
	}
	return r.share.pushUntilTaken(online)
}

package gitsync

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// fetch brings what is new in the remote into main. The caller holds share.
func (r *Record) fetch(ctx context.Context) error {
	err := r.fetchOnce(ctx)
	r.contact.fetched(err)
	return err
}

func (r *Record) fetchOnce(ctx context.Context) error {
	failpoint.Hit(failpoint.Fetching)
	if err := r.refill(ctx); err != nil {
		return err
	}
	err := r.git.FetchMain(ctx)
	tip := objects.Zero
	switch {
	case errors.Is(err, carrier.ErrNoMain):
	case err != nil:
		r.main.work.Lock()
		r.disk.suspect(err)
		r.main.work.Unlock()
		r.refs.clearWay()
		return fmt.Errorf("cannot fetch main: %w", err)
	default:
		if tip, _, err = r.store.Ref(carrier.FetchedRef); err != nil {
			return fmt.Errorf("cannot fetch main: %w", err)
		}
	}
	failpoint.Hit(failpoint.Fetched)
	r.main.work.Lock()
	defer r.main.work.Unlock()
	if err = r.bearable(tip); err == nil {
		err = r.takeInRemote(tip)
	}
	if err == nil {
		err = r.endLoss()
	}
	if err != nil {
		r.disk.suspect(err)
		return fmt.Errorf("cannot take in the remote's main: %w", err)
	}
	return nil
}

// mostFetched is how many files may differ between a tip of the remote and the one
// before it.
const mostFetched = 5_000_000

// bearable refuses a tip of the remote that nobody has written by sending messages:
// somebody who may push can make a few objects stand for billions of files. The
// caller holds work.
func (r *Record) bearable(tip objects.Hash) error {
	known, before := r.progress.remote()
	if tip == known || tip == objects.Zero {
		return nil
	}
	tree, err := r.store.TreeOf(tip)
	if err != nil {
		return err
	}
	return r.store.Weigh(before, tree, mostFetched)
}

// takeInRemote brings a tip of the remote into main. The caller holds work.
func (r *Record) takeInRemote(tip objects.Hash) error {
	known, _ := r.progress.remote()
	if err := r.main.takeInMain(); err != nil {
		return err
	}
	if tip != known {
		if err := r.related(tip); err != nil {
			return err // nothing of it is ours, so nothing is put back
		}
		if err := reportLoss(r.store, r.tell, known, tip); err != nil {
			return err
		}
	}
	if tip != objects.Zero {
		for {
			current, _ := r.progress.main()
			err := r.main.reshape(tip, current)
			if err == nil {
				break
			}
			if !errors.Is(err, objects.ErrRefMoved) {
				return err
			}
			if err := r.main.takeInMain(); err != nil {
				return err
			}
		}
	}
	return r.remoteIs(tip)
}

// related refuses a tip that has no commit in common with the record.
func (r *Record) related(tip objects.Hash) error {
	if tip == objects.Zero {
		return nil
	}
	ours, _ := r.progress.main()
	_, ok, err := r.store.MergeBase(ours, tip)
	if err == nil && !ok {
		err = fmt.Errorf("%w: its history does not begin with %s", ErrForeign, r.id)
	}
	return err
}

// remoteIs notes the remote's tip, which main has as an ancestor.
func (r *Record) remoteIs(tip objects.Hash) error {
	known, _ := r.progress.remote()
	if tip != known {
		if err := r.pinRemote(tip); err != nil {
			return err
		}
		tree, err := r.store.TreeOf(tip)
		if err != nil {
			return err
		}
		r.progress.remoteIs(tip, tree)
	}
	return r.progress.settle()
}

// pinRemote writes down the remote's tip, so that the next start knows it.
func (r *Record) pinRemote(tip objects.Hash) error {
	if tip == objects.Zero {
		return nil
	}
	old, _, err := r.store.Ref(carrier.RemoteRef)
	if err != nil {
		return err
	}
	if old != tip {
		if err := r.store.MoveRef(carrier.RemoteRef, old, tip); err != nil {
			return err
		}
	}
	known, err := carrier.RemoteOf(r.dir)
	if err != nil || known == carrier.Noted(r.opts.Remote) {
		return err
	}
	return carrier.SetRemote(r.dir, r.opts.Remote)
}

// push brings main to the remote; carrier.ErrRejected means that a fetch must come
// first. The caller holds share.
func (r *Record) push(ctx context.Context) error {
	tip, _ := r.progress.main()
	failpoint.Hit(failpoint.Pushing)
	err := r.git.Push(ctx, tip)
	r.contact.countPush(err)
	switch {
	case errors.Is(err, carrier.ErrRejected):
		return err
	case err != nil:
		err = fmt.Errorf("cannot push main: %w", err)
	default:
		failpoint.Hit(failpoint.Pushed)
		r.main.work.Lock()
		err = r.remoteIs(tip)
		r.main.work.Unlock()
		r.tell.moved()
	}
	r.contact.pushed(err)
	return err
}

// pushUntilTaken pushes, and as long as others come first waits, fetches and
// pushes again. The pause stands before the fetch: what is fetched last is what
// the push has to fit on.
func (r *Record) pushUntilTaken(ctx context.Context) error {
	for attempt := 1; r.progress.lag().behind; attempt++ {
		err := r.push(ctx)
		if !errors.Is(err, carrier.ErrRejected) {
			return err
		}
		if !sleep(ctx, r.jitter.pause(attempt)) {
			return fmt.Errorf("cannot push main: %w", context.Cause(ctx))
		}
		if err := r.fetch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Sync commits all that is stored, whoever is to commit it, pushes it and
// fetches, once, and tells all events before it returns. It does not need Run.
func (r *Record) Sync(ctx context.Context) error {
	defer r.tell.queue.deliver()
	if r.isClosed() {
		return fmt.Errorf("cannot sync: %w", ErrClosed)
	}
	defer r.replaceDamaged()
	if r.opts.Remote == "" {
		return r.main.commit(ctx, true)
	}
	online, done := r.whileOnline(ctx)
	defer done()
	r.share.Lock()
	defer r.share.Unlock()
	if err := r.fetch(online); err != nil {
		return errors.Join(err, r.main.commit(ctx, true))
	}
	if err := r.main.commit(ctx, true); err != nil {
		return err
	}
	return r.pushUntilTaken(online)
}

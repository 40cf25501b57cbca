package gitsync

import (
	"context"
	"errors"
	"fmt"
)

// Fetch looks at the remote now and tells all events before it returns. Without
// a remote it takes in what another program did to main. Where it succeeds, what
// failed before is tried again at once.
func (r *Record) Fetch(ctx context.Context) error {
	defer r.tell.queue.deliver()
	if r.isClosed() {
		return fmt.Errorf("cannot fetch: %w", ErrClosed)
	}
	if r.opts.Remote == "" {
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

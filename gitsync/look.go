package gitsync

import (
	"context"
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
	ctx, done := r.whileOnline(ctx)
	defer done()
	r.share.Lock()
	defer r.share.Unlock()
	err := r.fetch(ctx)
	if err == nil {
		ring(r.retryBell)
	}
	return err
}

package gitsync

import (
	"context"
	"fmt"
)

// Fetch looks at the remote now and tells all events before it returns. Without
// a remote it takes in what another program did to main.
func (r *Record) Fetch(ctx context.Context) error {
	defer r.events.deliver()
	if r.isClosed() {
		return fmt.Errorf("cannot fetch: %w", ErrClosed)
	}
	if r.opts.Remote == "" {
		return r.commit(ctx, false)
	}
	r.share.Lock()
	defer r.share.Unlock()
	return r.fetch(ctx)
}

package gitsync

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/protocol"
)

// Append stores messages, all of them or none. When it returns nil, they are durable. It does
// nothing for a message that is already in the journal or in main with the same bytes. The caller
// must not change Data afterwards. Concurrent callers share one fsync.
func (r *Record) Append(ctx context.Context, messages []MessageFile) error {
	if r.isClosed() {
		return fmt.Errorf("cannot store: %w", ErrClosed)
	}
	var fresh []MessageFile
	var blobs []objects.Hash
	for _, l := range messages {
		if l.Path.IsZero() {
			return errors.New("cannot store a message without a path")
		}
		blob := objects.BlobHash(l.Data)
		if r.progress.keeps(l.Path, blob) || contains(fresh, blobs, l.Path, blob) {
			continue
		}
		fresh = append(fresh, l)
		blobs = append(blobs, blob)
	}
	if len(fresh) == 0 {
		return nil
	}
	entries := each.Of(fresh, func(l MessageFile) journal.Entry {
		return journal.Entry{Path: l.Path.String(), Peer: l.Peer, Data: l.Data}
	})
	if err := r.opts.Here(); err != nil {
		return fmt.Errorf("cannot store %d messages: %w", len(fresh), err)
	}
	ids, err := r.journal.Append(ctx, entries)
	if err != nil {
		if errors.Is(err, journal.ErrClosed) {
			err = ErrClosed
		} else if ctx.Err() == nil {
			r.room.stored(err)
		}
		return fmt.Errorf("cannot store %d messages: %w", len(fresh), err)
	}
	failpoint.Hit(failpoint.Appended)
	r.room.stored(nil)
	for i, l := range fresh {
		r.progress.hold(l, blobs[i], ids[i])
	}
	ring(r.commitBell)
	return nil
}

func contains(messages []MessageFile, blobs []objects.Hash, p protocol.Path, blob objects.Hash) bool {
	for i := range messages {
		if blobs[i] == blob && messages[i].Path == p {
			return true
		}
	}
	return false
}

func (r *Record) isClosed() bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.state.closed
}

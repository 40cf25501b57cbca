package gitsync

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// scanBatch is how many messages of Scan one goroutine takes at a time.
const scanBatch = 128

// Scan is WalkDamaged on all processors at once: several goroutines call `visit` and `damaged`, in
// no order. An error ends it.
func (r *Reader) Scan(ctx context.Context, visit func(MessageFile) error, damaged func(protocol.Path, error) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []arrival)
	var working sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() { // ends with batches, or ctx
			reader := r.store.Reader()
			defer reader.Close()
			for batch := range batches {
				for _, a := range batch {
					if err := r.scanOne(ctx, reader, a, visit, damaged); err != nil {
						cancel(err)
						return
					}
				}
			}
		})
	}
	tree, stored := r.progress.snapshot()
	err := r.inBatches(ctx, tree, batches)
	close(batches)
	working.Wait()
	for _, l := range stored {
		if err != nil || ctx.Err() != nil {
			break
		}
		err = visit(l)
	}
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return fmt.Errorf("cannot walk the record: %w", err)
	}
	return nil
}

// inBatches passes on the messages of a tree, and the contents that have lost their paths.
func (r *Reader) inBatches(ctx context.Context, tree objects.Hash, batches chan<- []arrival) error {
	var batch []arrival
	pass := func() error {
		select {
		case batches <- batch:
			batch = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	add := func(p protocol.Path, e objects.Entry) error {
		if batch = append(batch, arrival{path: p, blob: e.Hash}); len(batch) < scanBatch {
			return nil
		}
		return pass()
	}
	err := r.walkFolder(tree, channelsPrefix, messagePath, add)
	if err == nil {
		err = r.walkFolder(tree, conflictsPrefix, parseConflictPath, add)
	}
	if err == nil && len(batch) > 0 {
		err = pass()
	}
	return err
}

func (r *Reader) scanOne(
	ctx context.Context, reader *objects.Reader, a arrival, visit func(MessageFile) error, damaged func(protocol.Path, error) error,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	data, err := messageData(reader, a.blob)
	if err != nil {
		return damaged(a.path, err)
	}
	return visit(MessageFile{Path: a.path, Data: data, Recorded: true})
}

package journal

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// write is the goroutine that writes for all callers; Close ends it.
func (j *Journal) write() {
	defer close(j.stopped)
	for {
		select {
		case r := <-j.requests:
			j.writeBatch(j.gather(r))
		case <-j.stop:
			j.drain()
			return
		}
	}
}

func (j *Journal) gather(first *request) []*request {
	batch := []*request{first}
	for size := first.encoded; size < maxBatch; {
		select {
		case r := <-j.requests:
			batch = append(batch, r)
			size += r.encoded
		default:
			return batch
		}
	}
	return batch
}

func (j *Journal) drain() {
	for {
		select {
		case r := <-j.requests:
			r.result <- ErrClosed
		default:
			return
		}
	}
}

func (j *Journal) writeBatch(batch []*request) {
	batch = slices.DeleteFunc(batch, func(r *request) bool {
		gone := r.ctx.Err() != nil
		if gone {
			r.result <- fmt.Errorf("cannot store: %w", context.Cause(r.ctx))
		}
		return gone
	})
	if len(batch) == 0 {
		return
	}
	err := j.rotate()
	if err == nil {
		err = j.store(batch)
	}
	for _, r := range batch {
		r.result <- err
	}
}

// rotate makes sure that there is a segment to append to.
func (j *Journal) rotate() error {
	if j.current != nil && j.mustRotate() {
		if err := j.closeCurrent(); err != nil {
			return err
		}
		failpoint.Hit(failpoint.JournalRolled)
	}
	if j.current != nil {
		return nil
	}
	j.mu.Lock()
	err := j.removeDone()
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if err := j.begin(); err != nil {
		return err
	}
	// Compacting is housekeeping: if it fails now, it is tried again at the next rotation. The
	// callers are only concerned if the new segment is lost.
	if err := j.compact(); err != nil && j.current == nil {
		return err
	}
	return nil
}

func (j *Journal) mustRotate() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	seg := j.segments[len(j.segments)-1]
	return seg.size >= j.opts.SegmentBytes || len(seg.live) == 0 && seg.size >= retireAbove
}

// begin makes a new segment with a durable header.
func (j *Journal) begin() error {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return fmt.Errorf("cannot begin a segment of the journal: %w", err)
	}
	h := header{number: j.last + 1, nonce: binary.BigEndian.Uint64(random[:]), before: j.lastValid}
	path := j.path(h.number)
	// A segment that could not be finished may still be there, if the disk took no change at all at
	// that time. Nothing in it was ever acknowledged.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot begin a segment of the journal: %w", err)
	}
	f, err := j.opts.open(path)
	if err != nil {
		return fmt.Errorf("cannot begin a segment of the journal: %w", err)
	}
	_, err = f.Write(h.encode())
	if err == nil {
		failpoint.Hit(failpoint.JournalBegun)
		err = f.Sync()
	}
	if err == nil {
		err = durable.Folder(j.dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot begin a segment of the journal: %w", err), f.Close(), os.Remove(path))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments = append(j.segments, &segment{number: h.number, size: headerSize, live: map[ID]int{}, current: true})
	j.bytes += headerSize
	j.current, j.last, j.lastValid, j.nonce = f, h.number, headerSize, h.nonce
	return nil
}

// store writes a batch and syncs it. After an error it writes nothing more to the segment.
func (j *Journal) store(batch []*request) error {
	out := j.out[:0]
	for _, r := range batch {
		out = appendRecord(out, j.nonce, r.entries)
	}
	if j.out = out; cap(out) > keptOut {
		j.out = nil
	}
	_, err := j.current.Write(out)
	if err == nil {
		failpoint.Hit(failpoint.JournalWritten)
		err = j.current.Sync()
	}
	if err != nil {
		err = fmt.Errorf("cannot write the journal: %w", err)
		// The next segment notes what is valid. This only helps somebody who reads the file
		// earlier.
		j.mu.Lock()
		j.segments[len(j.segments)-1].torn = true
		j.mu.Unlock()
		return errors.Join(err, j.current.Truncate(int64(j.lastValid)), j.closeCurrent())
	}
	failpoint.Hit(failpoint.JournalSynced)
	j.mu.Lock()
	defer j.mu.Unlock()
	seg := j.segments[len(j.segments)-1]
	for _, r := range batch {
		for range r.entries {
			r.ids = append(r.ids, j.newID(seg))
		}
	}
	seg.size += int64(len(out))
	j.bytes += int64(len(out))
	j.lastValid = uint64(seg.size)
	j.noteExtent()
	return nil
}

func (j *Journal) closeCurrent() error {
	if j.current == nil {
		return nil
	}
	f := j.current
	j.current = nil
	j.mu.Lock()
	j.segments[len(j.segments)-1].current = false
	j.mu.Unlock()
	if err := f.Close(); err != nil {
		return fmt.Errorf("cannot close a segment of the journal: %w", err)
	}
	return nil
}

// compact moves the entries of segments that have few left into the current segment, if the journal
// as a whole is large.
func (j *Journal) compact() error {
	j.mu.Lock()
	var sparse []*segment
	if j.bytes > j.opts.CompactBytes {
		sparse = slices.DeleteFunc(slices.Clone(j.segments), func(seg *segment) bool {
			return seg.current || len(seg.live) == 0 || len(seg.live)*4 > seg.count
		})
	}
	j.mu.Unlock()
	for _, seg := range sparse {
		if err := j.moveEntries(seg); err != nil {
			return fmt.Errorf("cannot compact the journal: %w", err)
		}
	}
	return nil
}

// moveEntries stores the entries of a segment again. They keep their IDs.
func (j *Journal) moveEntries(seg *segment) error {
	all, err := j.entriesOf(seg.number, seg.count)
	if err != nil {
		return err
	}
	j.mu.Lock()
	old := slices.Sorted(maps.Keys(seg.live))
	entries := each.Of(old, func(id ID) Entry { return all[seg.live[id]] })
	j.mu.Unlock()
	if len(entries) == 0 {
		return nil
	}
	moved := &request{entries: entries}
	if err := j.store([]*request{moved}); err != nil {
		return err
	}
	failpoint.Hit(failpoint.JournalCompacted)
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, id := range moved.ids {
		// The entry in its new place takes the old ID, unless it was done in the meantime.
		to := j.ids[id]
		index := to.live[id]
		delete(to.live, id)
		delete(j.ids, id)
		if j.ids[old[i]] == seg {
			delete(seg.live, old[i])
			to.live[old[i]] = index
			j.ids[old[i]] = to
		}
	}
	j.noteExtent() // before the segment goes, as in Done
	return j.removeDone()
}

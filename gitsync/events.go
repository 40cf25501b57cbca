package gitsync

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// Messages that came with main are told so many at a time, or fewer large ones.
const (
	arrivedBatch = 256
	arrivedBytes = 8 << 20
)

// eventQueue holds calls of Events until the goroutine of Run, or Sync, makes
// them one after the other.
type eventQueue struct {
	wake    chan struct{}
	calling sync.Mutex // held while calls are made

	mu    sync.Mutex // guards calls
	calls []func()
}

func (q *eventQueue) add(call func()) {
	q.mu.Lock()
	q.calls = append(q.calls, call)
	q.mu.Unlock()
	ring(q.wake)
}

// deliver makes all calls that wait.
func (q *eventQueue) deliver() {
	q.calling.Lock()
	defer q.calling.Unlock()
	for {
		q.mu.Lock()
		if len(q.calls) == 0 {
			q.mu.Unlock()
			return
		}
		call := q.calls[0]
		q.calls = q.calls[1:]
		q.mu.Unlock()
		call()
	}
}

// run delivers until ctx ends.
func (q *eventQueue) run(ctx context.Context) {
	for {
		select {
		case <-q.wake:
			q.deliver()
		case <-ctx.Done():
			return
		}
	}
}

// arrival is a message that came with main; its bytes are read when it is told.
type arrival struct {
	path protocol.Path
	blob objects.Hash
}

func (r *Record) tellArrived(arrivals []arrival) {
	if r.opts.Events.Arrived == nil || len(arrivals) == 0 {
		return
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return a.path.Compare(b.path) })
	r.countArriving(len(arrivals), 0)
	r.tellArriving(true)
	defer r.tellArriving(false)
	for batch := range slices.Chunk(arrivals, arrivedBatch) {
		r.events.add(func() {
			for rest := batch; len(rest) > 0; {
				var letters []Letter
				letters, rest = r.loadArrivals(rest)
				r.opts.Events.Arrived(letters)
			}
			r.countArriving(0, len(batch))
		})
	}
}

func (r *Record) tellArriving(more bool) {
	if r.opts.Events.Arriving != nil {
		r.events.add(func() { r.opts.Events.Arriving(more) })
	}
}

// loadArrivals reads messages that came with main, until they take arrivedBytes; rest
// are the others.
func (r *Record) loadArrivals(arrivals []arrival) (letters []Letter, rest []arrival) {
	size := 0
	for i, a := range arrivals {
		if size >= arrivedBytes {
			return letters, arrivals[i:]
		}
		data, err := letterData(r.store, a.blob)
		if err != nil {
			r.log.Error().Err(err).Stringer("path", a.path).Msg("cannot read a message that arrived")
			r.untold.Store(true)
			continue
		}
		letters = append(letters, Letter{Path: a.path, Data: data})
		size += len(data)
	}
	return letters, nil
}

// countArriving counts for Status what is to be told, and what has been.
func (r *Record) countArriving(more, told int) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	r.state.arriving += more
	r.state.arrived += told
	if r.state.arrived == r.state.arriving {
		r.state.arriving, r.state.arrived = 0, 0
	}
}

func (r *Record) tellFiles(paths []string) {
	if r.opts.Events.Files != nil && len(paths) > 0 {
		r.events.add(func() { r.opts.Events.Files(paths) })
	}
}

func (r *Record) tellRecorded(paths []protocol.Path) {
	if r.opts.Events.Recorded != nil && len(paths) > 0 {
		r.events.add(func() { r.opts.Events.Recorded(paths) })
	}
}

func (r *Record) tellPushed(paths []protocol.Path) {
	if r.opts.Events.Pushed != nil && len(paths) > 0 {
		slices.SortFunc(paths, protocol.Path.Compare)
		r.events.add(func() { r.opts.Events.Pushed(paths) })
	}
}

func (r *Record) tellMoved() {
	if r.opts.Events.Moved != nil {
		r.events.add(r.opts.Events.Moved)
	}
}

func (r *Record) tellTrouble(t Trouble) {
	if r.opts.Events.Trouble != nil {
		r.events.add(func() { r.opts.Events.Trouble(t) })
	}
}

func (r *Record) tellDamaged(why string) {
	if r.opts.Events.Damaged != nil {
		r.events.add(func() { r.opts.Events.Damaged(why) })
	}
}

// notice tells the operator.
func (r *Record) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.opts.Events.Notice == nil {
		r.log.Warn().Msg(text)
		return
	}
	r.events.add(func() { r.opts.Events.Notice(text) })
}

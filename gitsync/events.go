package gitsync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/shortage"
	"github.com/parleyfleet/parley/protocol"
)

// Messages that came with main are reported in batches of that many messages, or fewer large ones.
const (
	arrivedBatch = 256
	arrivedBytes = 8 << 20
)

// eventQueue holds calls of Events. The goroutine of Run, or Sync, makes them one after the other.
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

// teller tells Events what happened. Each call waits in the queue until somebody delivers it. So no
// part of the record waits for a callback.
type teller struct {
	events Events
	queue  eventQueue
	store  *objects.Store  // where messages that came with main are read
	online context.Context // ends when the record is about to end
	log    zerolog.Logger
	untold atomic.Bool // a message that came with main could not be told

	stopping func() bool // the record is about to be closed

	mu   sync.Mutex // guards news
	news news
}

// news counts messages that came with main, until all have been reported.
type news struct {
	arriving, arrived int // how many there are in all, and how many of them have been reported
}

// arrived queues messages that came with main to be reported, and counts them.
func (t *teller) arrived(arrivals []arrival) {
	if t.events.Arrived == nil || len(arrivals) == 0 {
		return
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return a.path.Compare(b.path) })
	t.countArriving(len(arrivals), 0)
	t.arriving(true)
	defer t.arriving(false)
	for batch := range slices.Chunk(arrivals, arrivedBatch) {
		t.queue.add(func() {
			for rest := batch; len(rest) > 0; {
				if t.stopping() { // a million messages would keep the node from stopping; Walk finds them at the next start
					t.untold.Store(true)
					break
				}
				var messages []MessageFile
				messages, rest = t.loadArrivals(rest)
				t.events.Arrived(messages)
			}
			t.countArriving(0, len(batch))
		})
	}
}

func (t *teller) arriving(more bool) { tell(t, t.events.Arriving, more) }

// loadArrivals reads messages that came with main, until they have arrivedBytes bytes. `rest` are
// the others. It uses a reader that leaves packs open: opening a pack for each message takes longer
// than reading the message.
func (t *teller) loadArrivals(arrivals []arrival) (messages []MessageFile, rest []arrival) {
	reader := t.store.Reader()
	defer reader.Close()
	size := 0
	for i, a := range arrivals {
		if size >= arrivedBytes {
			return messages, arrivals[i:]
		}
		var data []byte
		err := shortage.Outlast(t.online, nil, func() (err error) {
			data, err = messageData(reader, a.blob)
			return err
		})
		if err != nil {
			t.log.Error().Err(err).Stringer("path", a.path).Msg("cannot read a message that arrived")
			t.untold.Store(true)
			continue
		}
		messages = append(messages, MessageFile{Path: a.path, Data: data})
		size += len(data)
	}
	return messages, nil
}

// countArriving counts for Status what is to be reported, and what has been.
func (t *teller) countArriving(more, told int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.news.arriving += more
	t.news.arrived += told
	if t.news.arrived == t.news.arriving {
		t.news = news{}
	}
}

// waiting is what has not been reported completely.
func (t *teller) waiting() news {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.news
}

func (t *teller) files(paths []string)           { tellMany(t, t.events.Files, paths) }
func (t *teller) recorded(paths []protocol.Path) { tellMany(t, t.events.Recorded, paths) }
func (t *teller) trouble(now Trouble)            { tell(t, t.events.Trouble, now) }
func (t *teller) damaged(why string)             { tell(t, t.events.Damaged, why) }

func (t *teller) pushed(paths []protocol.Path) {
	slices.SortFunc(paths, protocol.Path.Compare)
	tellMany(t, t.events.Pushed, paths)
}

func (t *teller) moved() {
	if t.events.Moved != nil {
		t.queue.add(t.events.Moved)
	}
}

func (t *teller) stuck(s Step, why error) {
	if t.events.Stuck != nil {
		t.queue.add(func() { t.events.Stuck(s, why) })
	}
}

// tell queues a call of an event, if somebody wants it.
func tell[T any](t *teller, event func(T), what T) {
	if event != nil {
		t.queue.add(func() { event(what) })
	}
}

func tellMany[T any](t *teller, event func([]T), all []T) {
	if len(all) > 0 {
		tell(t, event, all)
	}
}

// notice tells the operator.
func (t *teller) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if t.events.Notice == nil {
		t.log.Warn().Msg(text)
		return
	}
	t.queue.add(func() { t.events.Notice(text) })
}

// Told returns main's commit as soon as all messages that came with it have been reported. It makes
// the waiting calls itself, so an event must not call it. An error says that a message could not be
// reported; Walk may bring it.
func (r *Record) Told() (commit string, err error) {
	r.main.work.Lock()
	tip, _ := r.progress.main()
	r.main.work.Unlock()
	r.tell.queue.deliver()
	if r.tell.untold.Load() {
		return "", errors.New("a message that came with main could not be read")
	}
	return tip.String(), nil
}

package bus

import (
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

const (
	maxQueued      = 8192
	maxQueuedBytes = 64 << 20
)

// letterIn is a letter that waits to be checked and handled.
type letterIn struct {
	subject protocol.Subject
	msg     *nats.Msg
}

// batch is what has queued up.
type batch struct {
	linked   bool
	messages []Incoming
	letters  []letterIn
}

// queue is where the connection leaves what arrives, without waiting, and the
// dispatcher finds it.
type queue struct {
	wake chan struct{} // holds one token while something is queued

	mu    sync.Mutex // guards the fields below
	next  batch
	bytes int
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// message queues m, or reports that there is no room.
func (q *queue) message(m Incoming) bool {
	return q.add(len(m.Data), func(b *batch) { b.messages = append(b.messages, m) })
}

// letter queues l, or reports that there is no room.
func (q *queue) letter(l letterIn) bool {
	return q.add(len(l.msg.Data), func(b *batch) { b.letters = append(b.letters, l) })
}

// linked queues that a link came up, for which there is always room.
func (q *queue) linked() {
	q.mu.Lock()
	q.next.linked = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) add(size int, put func(*batch)) bool {
	q.mu.Lock()
	if len(q.next.messages)+len(q.next.letters) >= maxQueued || q.bytes+size > maxQueuedBytes {
		q.mu.Unlock()
		return false
	}
	put(&q.next)
	q.bytes += size
	q.mu.Unlock()
	q.signal()
	return true
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (q *queue) take() batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.next
	q.next, q.bytes = batch{}, 0
	return b
}

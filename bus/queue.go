package bus

import (
	"cmp"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// maxQueuedBytes is how many bytes may wait for the handlers. One sender may use two thirds of
	// it, so that a flood from one host leaves room for the others. That is room for 50,000
	// messages of usual size from one host.
	maxQueuedBytes = 96 << 20
	// messageOverhead is the memory for a waiting message besides its payload, in bytes: headers,
	// path, list.
	messageOverhead = 512
	letterOverhead  = 2 << 10
)

// letterIn is a letter that waits to be checked and handled.
type letterIn struct {
	subject protocol.Subject
	msg     *nats.Msg
}

// batch is everything that has queued up.
type batch struct {
	linked   bool
	unlinked []protocol.Name
	messages []Incoming
	letters  []letterIn
}

// queue is where the connection leaves what arrives, without waiting, and where the dispatcher
// takes it.
type queue struct {
	wake  chan struct{} // holds one token if something is queued
	limit int           // bytes that may wait

	mu    sync.Mutex // guards the fields below
	next  batch
	bytes int
	by    map[protocol.Name]int // bytes of each sender
}

// newQueue makes a queue with room for `limit` bytes; 0 means maxQueuedBytes.
func newQueue(limit int) *queue {
	return &queue{wake: make(chan struct{}, 1), limit: cmp.Or(limit, maxQueuedBytes), by: map[protocol.Name]int{}}
}

// message queues `m`. It returns false if there is no room.
func (q *queue) message(m Incoming) bool {
	size := len(m.Data) + messageOverhead
	return q.add(m.Sender, size, func(b *batch) { b.messages = append(b.messages, m) })
}

// letter queues `l`. It returns false if there is no room.
func (q *queue) letter(l letterIn) bool {
	size := l.msg.Size() + letterOverhead
	return q.add(l.subject.Sender, size, func(b *batch) { b.letters = append(b.letters, l) })
}

// linked queues that a link has come up. There is always room for that.
func (q *queue) linked() {
	q.mu.Lock()
	q.next.linked = true
	q.mu.Unlock()
	q.signal()
}

// unlinked queues that the last link to a host has ended. "" means the connection to an existing
// system. There is always room for that, because there are not many links.
func (q *queue) unlinked(host protocol.Name) {
	q.mu.Lock()
	q.next.unlinked = append(q.next.unlinked, host)
	q.mu.Unlock()
	q.signal()
}

func (q *queue) add(from protocol.Name, size int, put func(*batch)) bool {
	q.mu.Lock()
	if q.bytes+size > q.limit || q.by[from]+size > q.limit/3*2 {
		q.mu.Unlock()
		return false
	}
	put(&q.next)
	q.bytes += size
	q.by[from] += size
	q.mu.Unlock()
	q.signal()
	return true
}

func (q *queue) signal() { wait.Nudge(q.wake) }

func (q *queue) take() batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.next
	q.next, q.bytes = batch{}, 0
	clear(q.by)
	return b
}

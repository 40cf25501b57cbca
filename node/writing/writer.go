// Package writing carries out what is asked of a host: the state decides it, the writer signs and
// stores it, and an error says why not.
package writing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Writer is the one place where messages of this host come into being. It gives each message its
// path, run, seq and prev, signs it, has the record fsync it, folds it and publishes it, in that
// order. Everything that waits is written with one fsync. Its goroutines run from New until
// Close.
type Writer struct {
	Options
	requests chan *writing
	closing  chan struct{}
	closed   chan struct{}
	head     Head
}

// Options say whose messages a writer writes, and what it writes them with.
type Options struct {
	Host     protocol.Name
	Limit    int // of a message, in bytes
	RecordID string
	Record   interface {
		Append(context.Context, []gitsync.MessageFile) error
	}
	Examine   func(protocol.Path, []byte) fleet.Examined // examines a message as other hosts would
	Last      func() (*keys.File, bool)                  // the last known message of this host
	Publish   func([]Written)                            // folds what is stored, and tells the others
	SignsWith *atomic.Pointer[homes.Key]
	Storing   *sync.RWMutex // held for reading from the storing of messages until they are folded
}

// Head is where this host's chain stands. Only the goroutine of loop uses it.
type Head struct {
	Run    string
	Seq    uint64
	Prev   string
	Last   time.Time // time of the last path
	Suffix uint32
}

// writing is one request: its drafts are stored together, or none of them is.
type writing struct {
	drafts   []fleet.Draft
	next     *homes.Key // the key that this host signs with afterwards, if that is another one
	messages []gitsync.MessageFile
	written  []Written
	err      error
	done     chan struct{}
}

// Written is a message that is stored.
type Written struct {
	Message  *protocol.Message // with its body
	Examined fleet.Examined
	Item     *fleet.Item // set once it is taken in
	Data     []byte
}

// Paths are those of messages that are stored.
func Paths(ws []Written) []protocol.Path {
	return each.Of(ws, func(w Written) protocol.Path { return w.Message.Path })
}

// ErrDraining says that the node stops and takes no new messages.
var ErrDraining = errors.New("the node is stopping")

const (
	// writeQueue is how many requests may wait. writeBatch is how many of them one fsync may serve.
	writeQueue = 1024
	writeBatch = 512
	// lastYear is the last year that a path can state. Paths of this host need not come after a
	// path of that year: a thief of the key could have left room for none.
	lastYear = 9999
)

// New makes a writer that continues the chain of this host.
func New(o Options) *Writer {
	w := &Writer{
		Options:  o,
		requests: make(chan *writing, writeQueue),
		closing:  make(chan struct{}),
		closed:   make(chan struct{}),
	}
	go w.loop()
	return w
}

// begin begins a run after the last message of this host. That is looked up as late as possible: a
// home that was put back from a backup learns of it only after the start.
func (w *Writer) begin() {
	w.head.Run = random.Hex(4)
	last, ok := w.Last()
	if !ok {
		return
	}
	w.head.Prev = last.Hash
	if at := last.Path.Time(); at.Year() < lastYear {
		w.head.Last = at
		w.head.Suffix = math.MaxUint32 // the next path gets a later millisecond
	}
}

// Write stores the drafts and returns once they are fsynced and folded.
func (w *Writer) Write(ctx context.Context, drafts []fleet.Draft) ([]Written, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	return w.request(ctx, &writing{drafts: drafts, done: make(chan struct{})})
}

// Rotate stores the draft that gives this host another key. Everything after it is signed with that
// key, in a new run.
func (w *Writer) Rotate(ctx context.Context, draft fleet.Draft, next *homes.Key) ([]Written, error) {
	return w.request(ctx, &writing{drafts: []fleet.Draft{draft}, next: next, done: make(chan struct{})})
}

func (w *Writer) request(ctx context.Context, r *writing) ([]Written, error) {
	select {
	case <-w.closing:
		return nil, ErrDraining
	default:
	}
	select {
	case w.requests <- r:
	case <-w.closing:
		return nil, ErrDraining
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-r.done:
		return r.written, r.err
	case <-w.closed:
		// The request may have been taken up just before the end.
		select {
		case <-r.done:
			return r.written, r.err
		default:
			return nil, ErrDraining
		}
	}
}

// Close ends the writer after it has stored all earlier requests.
func (w *Writer) Close() {
	select {
	case <-w.closing:
	default:
		close(w.closing)
	}
	<-w.closed
}

type batch struct {
	requests []*writing
	messages []gitsync.MessageFile
	before   Head  // where the chain stood before the batch
	err      error // why the batch could not be stored
}

// changesKey reports whether messages after this batch are signed with another key.
func (b *batch) changesKey() bool {
	n := len(b.requests)
	return n > 0 && b.requests[n-1].next != nil
}

// loop signs what is requested. Meanwhile, storeAll stores and tells what was signed before. A
// request that comes meanwhile is served by the next fsync.
func (w *Writer) loop() {
	ready, stored := make(chan *batch), make(chan *batch)
	go w.storeAll(ready, stored)
	defer close(ready)
	next, ending, closing := &batch{}, false, w.closing
	var last *batch // the batch that is being stored
	for !ending || last != nil || len(next.requests) > 0 || len(w.requests) > 0 {
		requests, to := w.requests, ready // each is nil while no request may be taken, or no batch may be passed on
		if len(next.requests) >= writeBatch || next.changesKey() || last != nil && last.changesKey() {
			requests = nil
		}
		if len(next.requests) == 0 {
			to = nil
		}
		select {
		case r := <-requests:
			w.add(next, r)
		case to <- next:
			last, next = next, &batch{}
		case b := <-stored:
			last, next = nil, w.after(b, next)
		case <-closing:
			ending, closing = true, nil
		}
	}
}

func (w *Writer) add(b *batch, r *writing) {
	if w.head.Run == "" {
		w.begin()
	}
	before := w.head
	if len(b.requests) == 0 {
		b.before = before
	}
	b.requests = append(b.requests, r)
	if r.err = w.sign(r); r.err != nil {
		w.head = before
		return
	}
	b.messages = append(b.messages, r.messages...)
}

// after continues the chain once a batch is stored, and returns the next batch. If the record
// failed, nothing of the batch is in the chain. So the chain goes back to where it stood before,
// and what was signed meanwhile is signed anew.
func (w *Writer) after(stored, next *batch) *batch {
	if stored.err == nil && !stored.changesKey() {
		return next
	}
	if stored.err != nil {
		w.head = stored.before
	}
	w.head.Run, w.head.Seq = random.Hex(4), 0
	again := &batch{}
	for _, r := range next.requests {
		r.messages, r.written = nil, nil
		w.add(again, r)
	}
	return again
}

// storeAll stores batches as they come and tells them, until there are no more. It takes no batch
// before loop knows the outcome of the last one.
func (w *Writer) storeAll(ready <-chan *batch, stored chan<- *batch) {
	defer close(w.closed)
	for b := range ready {
		w.store(b, stored)
	}
}

func (w *Writer) store(b *batch, stored chan<- *batch) {
	w.Storing.RLock()
	defer w.Storing.RUnlock()
	if b.err = w.Record.Append(context.Background(), b.messages); b.err != nil {
		for _, r := range b.requests {
			r.err = errors.Join(r.err, fmt.Errorf("cannot store the message: %w", b.err))
		}
	}
	requests := b.requests
	if last := len(requests) - 1; requests[last].next != nil && requests[last].err == nil {
		w.tell(requests[:last])
		requests = requests[last:]
		w.SignsWith.Store(requests[0].next)
	}
	stored <- b
	w.tell(requests)
}

// tell folds and publishes the stored messages of a batch in one access to the state, and ends the
// waiting of those who requested them.
func (w *Writer) tell(requests []*writing) {
	var all []Written
	for _, r := range requests {
		if r.err == nil {
			all = append(all, r.written...)
		}
	}
	if len(all) > 0 {
		failpoint.Hit(failpoint.Stored)
		w.Publish(all)
		failpoint.Hit(failpoint.Published)
	}
	for _, r := range requests {
		if n := len(r.written); r.err == nil {
			r.written, all = all[:n:n], all[n:]
		}
		close(r.done)
	}
}

// sign gives the drafts of one request their places in the chain, and signs them.
func (w *Writer) sign(r *writing) error {
	for i := range r.drafts {
		d := &r.drafts[i]
		m := d.Message
		m.Path, m.Timestamp = w.head.Next(d.Channel, m.Timestamp)
		m.Chosen = d.Choose(m.Path)
		m.Host, m.Run, m.Seq, m.Prev = w.Host, w.head.Run, w.head.Seq, w.head.Prev
		data, err := protocol.Sign(&m, w.RecordID, w.SignsWith.Load().Pair)
		if err != nil {
			return &fleet.Refusal{Reason: err.Error()}
		}
		if limit := w.Limit; len(data) > limit {
			return &fleet.Refusal{
				Reason: fmt.Sprintf("the message has %d bytes; the limit is %d", len(data), limit),
				Hint:   "send a shorter text, or raise message_limit in config.yaml on every host",
			}
		}
		examined := w.Examine(m.Path, data)
		if err := examined.Err(); err != nil { // others would refuse it too, and the chain would have a hole for ever
			return &fleet.Refusal{Reason: fmt.Sprintf("cannot write the message: it would be read by nobody: %v", err)}
		}
		w.head.Prev = protocol.Hash(data)
		r.messages = append(r.messages, gitsync.MessageFile{Path: m.Path, Data: data})
		r.written = append(r.written, Written{Message: &m, Examined: examined, Data: data})
	}
	return nil
}

// Next makes the path that follows the last one. The paths of a host strictly rise, whatever its
// clock does. Within one millisecond, the suffix rises by a random step. If it would overflow, the
// next millisecond is taken.
func (h *Head) Next(channel protocol.ChannelID, now time.Time) (protocol.Path, time.Time) {
	h.Seq++
	now = now.UTC().Truncate(time.Millisecond)
	var b [4]byte
	random.Fill(b[:])
	draw := binary.BigEndian.Uint32(b[:])
	switch step := draw>>16 + 1; {
	case now.After(h.Last):
		h.Last, h.Suffix = now, draw>>1 // the upper half stays free for steps
	case h.Suffix > math.MaxUint32-step:
		h.Last, h.Suffix = h.Last.Add(time.Millisecond), draw>>1
	default:
		h.Suffix += step
	}
	return protocol.NewPath(channel, h.Last, h.Suffix), h.Last
}

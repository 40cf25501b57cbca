package presence

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/wait"
)

// A node that has just started runs no agent until it has looked for another node with its name and
// key. There is one if the image of a machine was started twice, or if an earlier version copied a
// home. What such a node has answered is on the remote already, and on the bus it says that it is
// there. Both answers are there after a moment.
const (
	// lookoutTime is how long both answers are waited for.
	lookoutTime = 3 * time.Second
	// greetTime is how long any other host has, once the bus is linked, to say that it has heard of
	// this one. twinTime is how much longer the twin has, because it may be further away.
	greetTime = time.Second
	twinTime  = 300 * time.Millisecond
)

// Lookout is the look around of a node that has just started.
type Lookout struct {
	Fetched  Event // the first look at the remote has ended, and what it brought is taken in
	Linked   Event // the bus has a link, and this node has told there that it has started
	Answered Event // another host has said since this start that it is there

	times time.Duration // how many times longer than usual the look around may take

	Out atomic.Bool // the node was told to stay out

	mu      sync.Mutex  // guards what follows
	over    bool        // agents may be run
	trusted bool        // messages of this host that come are no sign of another node: the operator says so, or the disk had lost some
	foreign *fleet.Item // the first message signed with this host's key that this home did not have; nil for none
}

// Event is something that happens once.
type Event struct {
	once sync.Once
	c    chan struct{}
}

// Happened notes that the event has happened.
func (e *Event) Happened() { e.once.Do(func() { close(e.c) }) }

// NewLookout begins to look around. `trusted` says that messages of this host that come are no sign
// of another node. `times` is how many times longer than usual the look around may take.
func NewLookout(trusted bool, times int) *Lookout {
	return &Lookout{
		times: time.Duration(max(1, times)), Fetched: Event{c: make(chan struct{})}, Linked: Event{c: make(chan struct{})}, Answered: Event{c: make(chan struct{})}, trusted: trusted,
	}
}

// wait waits for the answers that can come, as long as the look around may take.
func (l *Lookout) wait(ctx context.Context, remote, bus bool) {
	ctx, cancel := context.WithTimeout(ctx, l.times*lookoutTime)
	defer cancel()
	var answers sync.WaitGroup
	if remote {
		answers.Go(func() { l.Fetched.Wait(ctx) })
	}
	if bus {
		answers.Go(func() {
			if !l.Linked.Wait(ctx) {
				return
			}
			greeting, done := context.WithTimeout(ctx, l.times*greetTime)
			defer done()
			if l.Answered.Wait(greeting) {
				wait.Sleep(ctx, l.times*twinTime)
			}
		})
	}
	answers.Wait()
}

// Wait reports whether the event has happened, or happens before `ctx` ends.
func (e *Event) Wait(ctx context.Context) bool {
	select {
	case <-e.c:
		return true
	default:
	}
	select {
	case <-e.c:
		return true
	case <-ctx.Done():
		return false
	}
}

// noteForeign notes, while the node looks around, a message that the node's key signed and that its
// home did not have.
func (l *Lookout) noteForeign(it *fleet.Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over && !l.trusted && (l.foreign == nil || it.Path.Compare(l.foreign.Path) < 0) {
		l.foreign = it
	}
}

// endUnless lets agents run, unless a foreign message was noted. In that case it returns the
// message.
func (l *Lookout) endUnless() (foreign *fleet.Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.foreign == nil
	return l.foreign
}

// Trust makes messages of this host that come no sign of another node.
func (l *Lookout) Trust() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trusted = true
}

// end lets agents run.
func (l *Lookout) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

// MayRun reports whether the look around is over and the node was not told to stay out.
func (l *Lookout) MayRun() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over && !l.Out.Load()
}

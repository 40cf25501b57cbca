package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/fleet"
)

// A node that has just started runs no agent until it has looked for another one of its
// name and key: the image of a machine was started twice, or a home was copied by an
// earlier version. What such a node has answered already stands on the remote, and on
// the bus it says that it is there. The answers are there after a moment.
const (
	// lookoutTime is how long both answers are waited for.
	lookoutTime = 3 * time.Second
	// greetTime is how long, once the bus is linked, for any other host to say that it
	// has heard of this one; twinTime how much longer for the twin, which may be further away.
	greetTime = time.Second
	twinTime  = 300 * time.Millisecond
)

// lookout is that look around.
type lookout struct {
	fetched  event // the first look at the remote has ended, and what it brought is taken in
	linked   event // the bus has a link, and this node told there that it has started
	answered event // another host has said since then that it is there

	times time.Duration // how many times longer than usual it may take

	out atomic.Bool // the node was told to stay out

	// Guarded by the node's mu.
	over    bool        // agents are run
	trusted bool        // messages of this host that come are no sign of another node: the operator says so, or the disk had lost some
	foreign *fleet.Item // a message of this host's key that this home did not have, nil for none
}

// event is something that happens once.
type event struct {
	once sync.Once
	c    chan struct{}
}

func (e *event) happened() { e.once.Do(func() { close(e.c) }) }

func newLookout(trusted bool, times int) *lookout {
	return &lookout{
		times: time.Duration(max(1, times)), fetched: event{c: make(chan struct{})}, linked: event{c: make(chan struct{})}, answered: event{c: make(chan struct{})}, trusted: trusted,
	}
}

// lookAround waits for the answers and then lets the agents go. It ends with ctx.
func (n *Node) lookAround(ctx context.Context) {
	n.lookout.wait(ctx, n.cfg.Remote != "", n.natsBus.Load() != nil || len(n.hubs()) > 0)
	n.mu.Lock()
	foreign := n.lookout.foreign
	n.mu.Unlock()
	if foreign != nil {
		n.askTwin(ctx, foreign)
	}
	if ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	n.lookout.over = true
	n.mu.Unlock()
	n.notices.mended(aboutTwin)
	n.nudgeWorkers()
}

// wait waits for the answers that can come, for as long as the look around may take.
func (l *lookout) wait(ctx context.Context, remote, bus bool) {
	ctx, cancel := context.WithTimeout(ctx, l.times*lookoutTime)
	defer cancel()
	var answers sync.WaitGroup
	if remote {
		answers.Go(func() { l.fetched.wait(ctx) })
	}
	if bus {
		answers.Go(func() {
			if !l.linked.wait(ctx) {
				return
			}
			greeting, done := context.WithTimeout(ctx, l.times*greetTime)
			defer done()
			if l.answered.wait(greeting) {
				sleep(ctx, l.times*twinTime)
			}
		})
	}
	answers.Wait()
}

// wait reports whether it has happened, or does so before ctx ends.
func (e *event) wait(ctx context.Context) bool {
	select {
	case <-e.c:
		return true
	case <-ctx.Done():
		return false
	}
}

const aboutTwin = "another node of this host"

// askTwin has agents wait where the record has messages that this host's key signed and
// this home did not have: it is an older copy of the home that wrote them. If that one
// still runs, it hears of this one by a message and answers with one, and then one of
// them ends (see lookForTwin). If nothing comes, it was a home that went back in time.
func (n *Node) askTwin(ctx context.Context, foreign *fleet.Item) {
	patience := n.lookout.times * (3*n.cfg.FetchInterval + 2*n.cfg.PushEvery())
	n.notices.wrong(aboutTwin, "no agent is run until %s: the record has messages of this host that this home did not have, the first %s; "+
		"if a copy of this home runs elsewhere, stop one of them, else nothing is to be done (to skip this: parley up --moved)",
		n.now().Add(patience).Format(shownTime), foreign.Path)
	nudge(n.answer)
	sleep(ctx, patience)
}

// noteForeign notes, while the node looks around, a message that its key signed and
// that its home did not have. The caller holds mu.
func (l *lookout) noteForeign(it *fleet.Item) {
	if !l.over && !l.trusted && (l.foreign == nil || it.Path.Compare(l.foreign.Path) < 0) {
		l.foreign = it
	}
}

// mayRun reports whether the look around is over, and the node was not told to stay
// out. The caller holds mu.
func (n *Node) mayRun() bool { return n.lookout.over && !n.lookout.out.Load() }

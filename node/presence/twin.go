package presence

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

// Twins looks for other nodes with this node's name. A name belongs to one node. Two nodes with one
// name and key come from a home that was copied, or from a backup that was restored while the first
// node still runs. Two nodes with one name and different keys have joined without knowing of each
// other. In both cases the second node says so and stays out: both would write the chain of the
// same host.
type Twins struct {
	host     protocol.Name
	run      string // random, new with every start: tells this node from its twin
	started  time.Time
	now      func() time.Time
	log      zerolog.Logger
	notices  *notices.Notices
	lookout  *Lookout
	answer   chan struct{} // holds a token if a twin wrote: it is to learn of this node
	Expelled chan error    // why this node has to stay out of the fleet

	mu     sync.Mutex               // guards what follows
	heard  time.Time                // when a twin was last heard on the bus
	first  protocol.Path            // the first message that was written here since the start
	runs   map[string]bool          // the runs in which this node wrote
	firsts map[string]protocol.Path // the first message of each run of another node with this name
}

// hostHistory is what the state says of a host and of who wrote in its name.
type hostHistory interface {
	Keys() *keys.Ring
	Signature(*fleet.Item) protocol.Signature
}

// NewTwins looks for other nodes called `host`. This node was started at `started`.
func NewTwins(host protocol.Name, started time.Time, now func() time.Time, log zerolog.Logger, ns *notices.Notices, l *Lookout) *Twins {
	return &Twins{
		host: host, run: random.Hex(4), started: started, now: now, log: log, notices: ns, lookout: l,
		answer: make(chan struct{}, 1), Expelled: make(chan error, 1), runs: map[string]bool{}, firsts: map[string]protocol.Path{},
	}
}

// met takes in what was said on the bus under this host's name. Of two nodes with one name and key,
// the one that was started later stays out. The other one has to say that it is there.
func (t *Twins) met(p bus.Presence) (sayWeAreHere bool) {
	if p.Run == t.run || !p.Live || !p.Sent.After(t.started) {
		return false // this home's own node said it, before it was started anew
	}
	t.mu.Lock()
	t.heard = t.now()
	t.mu.Unlock()
	if p.Since.Before(t.started) || p.Since.Equal(t.started) && p.Run < t.run {
		t.expel("another node with the name and key of this host runs %ssince %s",
			onMachine(p.Machine), span.At(p.Since))
		return false
	}
	t.notices.Wrong(aboutTwinThere, "another node with the name and key of this host was started %sat %s: it is told to stay out; %s",
		onMachine(p.Machine), span.At(p.Since), twinHint)
	return true
}

const aboutTwinThere = "another node of this host on the bus"

// lookAway takes the warning back if a second node with this name is no longer heard.
func (t *Twins) lookAway() {
	if !t.near() {
		t.notices.Mended(aboutTwinThere)
	}
}

// near reports whether a twin was heard on the bus a short time ago.
func (t *Twins) near() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.heard.IsZero() && t.now().Sub(t.heard) < Lasts
}

const twinHint = "each machine needs a home and a name of its own: parley --home DIR join URL --alias NAME"

func onMachine(name string) string {
	if name == "" {
		return ""
	}
	return "on " + name + " "
}

// Look notices from what other hosts wrote that this host's name is used by another node. A sign is
// a new message that this node's key signed after the node's start, or a join with another key that
// came first. Of two nodes with one key, the one whose first message is later stays out. `all` is
// every message of the record. The caller holds the lock that guards `state` and `all`.
func (t *Twins) Look(it *fleet.Item, state hostHistory, all iter.Seq[*fleet.Item], key string) {
	if it.Host != t.host {
		return
	}
	if h, ok := state.Keys().Host(t.host); ok && h.Key != key {
		if state.Keys().KnowsKey(t.host, key) {
			t.expel("the host %s has another key by now, %s, which this home does not have: it was changed by another node of this name", t.host, h.Key)
			return
		}
		t.expel("the name %s belongs to another host, which joined first with the key %s", t.host, h.Key)
		return
	}
	if it.Act == protocol.ActHostJoin && it.Key != key {
		t.notices.Happened("another machine joined as %s too, with the key %s: it is not let in; give it an --alias of its own", it.Host, it.Key)
		return
	}
	// On the bus, twins tell each other which of them was first.
	if t.near() || t.ours(it.Run) || state.Signature(it) != protocol.SignatureValid {
		return
	}
	t.lookout.noteForeign(it)
	if !it.Path.Time().After(t.started) {
		return
	}
	if theirs, later := t.compare(it, all); later {
		t.expel("another node with the name and key of this host writes into the record (run %s, since %s)",
			it.Run, span.At(theirs.Time()))
		return
	}
	if t.notices.Once("twin "+it.Run, "another node with the name and key of this host writes into the record (run %s): stop it; %s", it.Run, twinHint) {
		wait.Nudge(t.answer)
	}
}

// compare returns the first known message of a run of this host, the run of the message `of`. It
// reports also whether this node's own first message is later. For each run, all messages are
// looked through once; what comes later is compared with the result.
func (t *Twins) compare(of *fleet.Item, all iter.Seq[*fleet.Item]) (theirs protocol.Path, later bool) {
	t.mu.Lock()
	theirs, known := t.firsts[of.Run]
	t.mu.Unlock()
	if !known {
		theirs = of.Path
		for it := range all {
			if it.Host == of.Host && it.Run == of.Run && it.Path.Compare(theirs) < 0 {
				theirs = it.Path
			}
		}
	}
	if of.Path.Compare(theirs) < 0 {
		theirs = of.Path
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.firsts[of.Run] = theirs
	return theirs, t.first.IsZero() || theirs.Compare(t.first) < 0
}

// ours reports whether this node wrote in a run.
func (t *Twins) ours(run string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[run]
}

// Wrote notes what this node itself has written.
func (t *Twins) Wrote(m *protocol.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first.IsZero() {
		t.first = m.Path
	}
	t.runs[m.Run] = true
}

// Out returns why this node has to stay out of the fleet, nil if it need not. It returns the reason
// once.
func (t *Twins) Out() error {
	select {
	case why := <-t.Expelled:
		return why
	default:
		return nil
	}
}

// expel ends the node, because it must stay out of the fleet.
func (t *Twins) expel(format string, args ...any) {
	t.StayOut(control.Errorf(control.KindConflict, twinHint, "this node stays out of the fleet: "+format, args...))
}

// StayOut ends the node for the reason `why`. The node runs no agent any more.
func (t *Twins) StayOut(why *control.Error) {
	t.lookout.Out.Store(true)
	select {
	case t.Expelled <- why:
		t.log.Error().Msg(why.Error())
	default: // the node already ends
	}
}

// askForeign has agents wait if the record has messages that this host's key signed and this home
// did not have. In that case this home is an older copy of the home that wrote them. If that home
// is still in use, its node learns of this one from a message, and answers with a message; then one
// of the two ends (see Look). If nothing comes, this home is one that went back in time.
func (t *Twins) askForeign(ctx context.Context, foreign *fleet.Item, patience time.Duration) {
	t.notices.Wrong(aboutTwin, "no agent is run until %s: the record has messages of this host that this home did not have, the first %s; "+
		"if a copy of this home runs elsewhere, stop one of them, else nothing is to be done (to skip this: parley up --moved)",
		span.At(t.now().Add(patience)), foreign.Path)
	wait.Nudge(t.answer)
	wait.Sleep(ctx, patience)
}

const aboutTwin = "another node of this host"

// LookAround waits for the answers that can come, and then lets agents run. `patience` is how long
// a twin that can only be reached by the record has to answer. It ends with `ctx`.
func (t *Twins) LookAround(ctx context.Context, remote, bus bool, patience time.Duration) {
	if t.lookout.wait(ctx, remote, bus); ctx.Err() != nil {
		return
	}
	if foreign := t.lookout.endUnless(); foreign != nil {
		if t.askForeign(ctx, foreign, t.lookout.times*patience); ctx.Err() != nil {
			return
		}
		t.lookout.end()
	}
	t.notices.Mended(aboutTwin)
}

package sessions

import (
	"time"

	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// saidLasts is how long the last word about itself counts of a session without a process. So a
	// session whose end nobody sees is not at work for ever.
	saidLasts = 12 * time.Hour
	// askedLasts is how long an agent counts as being there after it has asked for its mail, if its
	// sessions say nothing of themselves.
	askedLasts = 15 * time.Minute
	// mostSessions is for how many sessions of one agent the book keeps what they say. Names of
	// sessions cost nothing, so an agent that makes up new ones must not fill the memory.
	mostSessions = 1024
	// maxSessionName is how long the name of a session may be, in bytes.
	maxSessionName = 128
)

// desk is what is known of one agent's work.
type desk struct {
	said    map[Session]statement
	working int       // commands of it that the node runs
	began   time.Time // when the first of these began
	waits   int       // requests of it that wait for mail
	came    time.Time // when the first of these came
	asked   time.Time // when it last stopped waiting
	left    time.Time // when its last session left; zero if none has
}

type statement struct {
	state control.AgentState
	since time.Time
	told  time.Time // when it last said so
}

// of returns what is known of an agent. The caller holds mu.
func (b *Book) of(agent protocol.Name) *desk {
	d := b.desks[agent]
	if d == nil {
		d = &desk{said: map[Session]statement{}}
		b.desks[agent] = d
	}
	return d
}

// Turned returns a channel that is closed when an agent may next do something else.
func (b *Book) Turned() <-chan struct{} { return b.turned.Next() }

// Say notes what a session of an agent does. A session that is away has ended: what it took is
// given back.
func (b *Book) Say(agent protocol.Name, s Session, state control.AgentState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, now := b.of(agent), b.now()
	if state == control.AgentAway {
		d.forget(func(one Session, _ statement) bool { return one == s }, now)
		d.left = now
		// Sessions of other agents may have the same name, or may be just as unknown. What they
		// took stays theirs.
		b.letGo(func(who string, c Claim) bool { return who == agent.String() && c.By == s })
	} else {
		w, known := d.said[s]
		if !known || w.state != state {
			w = statement{state: state, since: now}
		}
		w.told = now
		if !known && len(d.said) >= mostSessions {
			d.forgetOldest()
		}
		d.said[s] = w
		wait.Nudge(b.watch)
	}
	b.turned.Tell()
}

// forget forgets sessions, and reports whether there were any. The caller holds the mu of the book.
func (d *desk) forget(which func(Session, statement) bool, now time.Time) (any bool) {
	for s, w := range d.said {
		if which(s, w) {
			delete(d.said, s)
			d.left, any = now, true
		}
	}
	return any
}

// forgetOldest forgets the session that has said nothing for the longest time. The caller
// holds the mu of the book.
func (d *desk) forgetOldest() {
	var oldest Session
	var told time.Time
	for s, w := range d.said {
		if told.IsZero() || w.told.Before(told) {
			oldest, told = s, w.told
		}
	}
	delete(d.said, oldest)
}

// Works notes that the node runs a command of an agent, until `done` is called.
func (b *Book) Works(agent protocol.Name) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.of(agent)
	if d.working++; d.working == 1 {
		d.began = b.now()
		b.turned.Tell()
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if d.working--; d.working == 0 {
			b.turned.Tell()
		}
	}
}

// Waits notes that an agent waits for its mail, until `done` is called.
func (b *Book) Waits(agent protocol.Name) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.of(agent)
	if d.waits++; d.waits == 1 {
		d.came = b.now()
		b.turned.Tell()
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		d.waits--
		d.asked = b.now()
		b.turned.Tell()
	}
}

// At returns what an agent does, and since when; zero if that is not known. `asked` is when it last
// asked for its mail. If it has several sessions, the busiest one counts: a session that works must
// not be disturbed because another one is idle.
func (b *Book) At(agent protocol.Name, asked time.Time) (state control.AgentState, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.desks[agent]
	if d == nil {
		d = &desk{}
	}
	if d.asked.After(asked) {
		asked = d.asked
	}
	if d.working > 0 {
		return control.AgentRunning, d.began
	}
	for _, busiest := range []control.AgentState{control.AgentRunning, control.AgentWaiting, control.AgentIdle} {
		for _, w := range d.said {
			if w.state == busiest && (state == "" || w.since.Before(since)) {
				state, since = busiest, w.since
			}
		}
		if state != "" {
			return state, since
		}
	}
	switch {
	case d.waits > 0:
		return control.AgentIdle, d.came
	case !asked.IsZero() && asked.After(d.left) && b.now().Sub(asked) < askedLasts:
		return control.AgentIdle, asked
	case asked.After(d.left):
		return control.AgentAway, asked
	}
	return control.AgentAway, d.left
}

package sessions

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

// Book keeps what is known of the sessions of a host's agents. Its methods may be called
// concurrently, and read no state.
type Book struct {
	now   func() time.Time
	alive func(process.ID) bool

	watch chan struct{} // holds a token where something has an end that nobody watches yet

	mu     sync.Mutex                         // guards what follows
	taken  map[string]map[protocol.Path]Claim // by whose mail it is
	freed  chan struct{}                      // closed and replaced when something is given back
	desks  map[protocol.Name]*desk
	turned chan struct{} // closed and replaced when an agent may be at something else
}

// Claim is that a session has taken a message.
type Claim struct {
	By    Session
	Until time.Time
}

// New knows of no session. alive says whether a process runs; nil: the system does.
func New(now func() time.Time, alive func(process.ID) bool) *Book {
	if alive == nil {
		alive = process.ID.Alive
	}
	return &Book{
		now: now, alive: alive, watch: make(chan struct{}, 1),
		taken: map[string]map[protocol.Path]Claim{}, freed: make(chan struct{}), desks: map[protocol.Name]*desk{}, turned: make(chan struct{}),
	}
}

// Freed returns a channel that is closed when something is given back next.
func (b *Book) Freed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.freed
}

// free wakes who waits for what is given back. The caller holds mu.
func (b *Book) free() {
	close(b.freed)
	b.freed = make(chan struct{})
}

// Take has a session take a message of who's mail until then. It is false where somebody
// has taken it, the same session too: what was given once is not given again. That may be
// one that has ended, until Sweep.
func (b *Book) Take(who string, p protocol.Path, c Claim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, taken := b.taken[who][p]; taken {
		return false
	}
	if b.taken[who] == nil {
		b.taken[who] = map[protocol.Path]Claim{}
	}
	b.taken[who][p] = c
	wait.Nudge(b.watch)
	return true
}

// Taken says who has taken a message of who's mail, if anybody has.
func (b *Book) Taken(who string, p protocol.Path) (Claim, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, taken := b.taken[who][p]
	return c, taken
}

// GiveBack has these messages be given to others again.
func (b *Book) GiveBack(who string, paths []protocol.Path) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range paths {
		delete(b.taken[who], p)
	}
	b.free()
}

// Sweep lets go of what sessions had and said that have ended, and of claims whose time is
// over. It reports whether anything is left of which the end is to be watched.
func (b *Book) Sweep() (left bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended, now := b.ended(), b.now()
	b.letGo(func(_ string, c Claim) bool { return !now.Before(c.Until) || ended(c.By) })
	for _, d := range b.desks {
		if d.forget(func(s Session, w statement) bool { return now.Sub(w.told) >= saidLasts || ended(s) }, now) {
			b.turn()
		}
		left = left || len(d.said) > 0
	}
	return left || len(b.taken) > 0
}

// letGo gives back what was taken by some claims, each on somebody's mail. The caller holds
// mu.
func (b *Book) letGo(which func(who string, c Claim) bool) {
	gone := 0
	for who, claims := range b.taken {
		for p, c := range claims {
			if which(who, c) {
				delete(claims, p)
				gone++
			}
		}
		if len(claims) == 0 {
			delete(b.taken, who)
		}
	}
	if gone > 0 {
		b.free()
	}
}

// ended says which sessions have ended, and looks for each process once.
func (b *Book) ended() func(Session) bool {
	known := map[Session]bool{}
	return func(s Session) bool {
		over, looked := known[s]
		if !looked {
			over = s.over(b.alive)
			known[s] = over
		}
		return over
	}
}

// watchEvery is how often it is looked whether a session has ended: no system tells that
// of processes which are not its own children.
const watchEvery = time.Second

// Watch lets go of what sessions had that end, until ctx ends. While there is nothing to
// watch it looks at nothing.
func (b *Book) Watch(ctx context.Context) {
	for {
		if b.Sweep() {
			if !wait.Sleep(ctx, watchEvery) {
				return
			}
			continue
		}
		select {
		case <-b.watch:
		case <-ctx.Done():
			return
		}
	}
}

package sessions

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

// Book keeps what is known of the sessions of a host's agents. Its methods may be called
// concurrently, and do not read the state.
type Book struct {
	now   func() time.Time
	alive func(process.ID) bool

	freed  wait.Change   // something is given back
	turned wait.Change   // an agent may do something else
	watch  chan struct{} // holds a token if there is something whose end nobody watches yet

	mu    sync.Mutex                         // guards what follows
	taken map[string]map[protocol.Path]Claim // by the name of the agent whose mail it is
	desks map[protocol.Name]*desk
}

// Claim says that a session has taken a message.
type Claim struct {
	By    Session
	Until time.Time
}

// New makes a Book that knows of no session. `alive` says whether a process runs; nil: the system
// is asked.
func New(now func() time.Time, alive func(process.ID) bool) *Book {
	if alive == nil {
		alive = process.ID.Alive
	}
	return &Book{
		now: now, alive: alive, watch: make(chan struct{}, 1),
		taken: map[string]map[protocol.Path]Claim{}, desks: map[protocol.Name]*desk{},
	}
}

// Freed returns a channel that is closed when something is given back next.
func (b *Book) Freed() <-chan struct{} { return b.freed.Next() }

// Take has a session take a message from the mail of `who`, until c.Until. It returns false if
// somebody has taken the message already. That may be the same session: what was given once is not
// given again. Until Sweep, it may also be a session that has ended.
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

// Taken says who has taken a message from the mail of `who`, if anybody has.
func (b *Book) Taken(who string, p protocol.Path) (Claim, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, taken := b.taken[who][p]
	return c, taken
}

// TakenOf is what sessions have taken from the mail of `who`.
func (b *Book) TakenOf(who string) []protocol.Path {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.taken[who]))
}

// GiveBack makes these messages available to others again.
func (b *Book) GiveBack(who string, paths []protocol.Path) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range paths {
		delete(b.taken[who], p)
	}
	b.freed.Tell()
}

// Sweep gives back what sessions that have ended had taken, forgets what they said, and gives up
// claims whose time is over. It reports whether anything is left whose end has to be watched.
func (b *Book) Sweep() (left bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended, now := b.ended(), b.now()
	b.letGo(func(_ string, c Claim) bool { return !now.Before(c.Until) || ended(c.By) })
	for _, d := range b.desks {
		if d.forget(func(s Session, w statement) bool {
			return s.Process.PID == 0 && now.Sub(w.told) >= saidLasts || ended(s)
		}, now) {
			b.turned.Tell()
		}
		left = left || len(d.said) > 0
	}
	return left || len(b.taken) > 0
}

// letGo gives up the claims for which `which` returns true. `who` is the agent whose mail is
// claimed. The caller holds mu.
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
		b.freed.Tell()
	}
}

// ended returns a function that says which sessions have ended. It looks for each process once.
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

// watchEvery is how often the book looks whether a session has ended: no system tells a process of
// the end of processes that are not its children.
const watchEvery = time.Second

// Watch gives back what sessions had when they end, until `ctx` ends. While there is nothing to
// watch, it does nothing.
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

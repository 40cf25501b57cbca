package agents

import (
	"slices"
	"sync"

	"github.com/parleyfleet/parley/internal/wait"
)

// Slots bound how many commands of agents run at once on this host, and share that
// among the agents. Whoever has waited longest is next, and stands last again once it
// has been served. So an agent with a thousand messages does not keep another from its
// first. An agent is known by the channel that wakes it.
type Slots struct {
	mu     sync.Mutex // guards what follows
	most   int
	shares map[chan struct{}]share // of agents with commands that run or wait
	line   []chan struct{}         // agents that wait, the longest first; each once
}

// share is what one agent has of the slots.
type share struct {
	used int // commands that run
	lent int // of these, how many wait for an answer; more than used count for nothing
}

// NewSlots has so many.
func NewSlots(most int) *Slots { return &Slots{most: most, shares: map[chan struct{}]share{}} }

// Claim takes a slot for an agent, unless those that are free are for others who have
// waited longer. Who gets none stands in the line, and is woken when it may claim again.
func (s *Slots) Claim(agent chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.line, agent)
	if at < 0 {
		at = len(s.line)
		s.line = append(s.line, agent)
	}
	if at >= s.free() {
		return false
	}
	s.line = slices.Delete(s.line, at, at+1)
	s.change(agent, share{used: 1})
	return true
}

// Release gives a slot of an agent back.
func (s *Slots) Release(agent chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(agent, share{used: -1})
}

// Leave takes an agent that needs no slot any more out of the line.
func (s *Slots) Leave(agent chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.line, agent); at >= 0 {
		s.line = slices.Delete(s.line, at, at+1)
		s.wake()
	}
}

// Lend frees a slot of an agent while one of its commands waits for an answer, until the slot is
// taken back. Else the answer might have to come from an agent that itself waits for a slot. Once
// it is taken back there may be a command too many for a while; no further one starts then.
func (s *Slots) Lend(agent chan struct{}) (takeBack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(agent, share{lent: 1})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.change(agent, share{lent: -1})
	}
}

// Usage is how many commands run, how many agents wait for a slot, and how many
// commands may run.
func (s *Slots) Usage() (used, waiting, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, has := range s.shares {
		used += has.used
	}
	return used, len(s.line), s.most
}

// Waits reports whether an agent stands in the line.
func (s *Slots) Waits(agent chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.line, agent)
}

// change adds to what an agent has, and wakes those for whom there is a slot then. The
// caller holds mu.
func (s *Slots) change(agent chan struct{}, by share) {
	has := s.shares[agent]
	has.used, has.lent = has.used+by.used, has.lent+by.lent
	s.shares[agent] = has
	if has == (share{}) {
		delete(s.shares, agent)
	}
	s.wake()
}

// free is how many more commands may run. The caller holds mu.
func (s *Slots) free() int {
	free := s.most
	for _, has := range s.shares {
		free -= max(0, has.used-has.lent)
	}
	return free
}

// wake wakes those for whom there is a slot. The caller holds mu.
func (s *Slots) wake() {
	for _, agent := range s.line[:max(0, min(len(s.line), s.free()))] {
		wait.Nudge(agent)
	}
}

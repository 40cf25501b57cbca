package agents

import (
	"slices"
	"sync"

	"github.com/parleyfleet/parley/internal/wait"
)

// Slots bound how many commands of agents run at the same time on this host, and share the slots
// among the agents. The agent that has waited longest is next. After it was served, it stands at
// the end of the line again. So an agent with a thousand messages does not keep another one from
// its first message. An agent is identified by the channel that wakes it.
type Slots struct {
	mu     sync.Mutex // guards what follows
	most   int
	shares map[chan struct{}]share // of agents with commands that run or wait
	line   []chan struct{}         // agents that wait, the longest first; each stands there once
}

// share is what one agent has of the slots.
type share struct {
	used int // commands that run
	lent int // how many of these wait for an answer; more than `used` count for nothing
}

// NewSlots makes Slots with `most` slots.
func NewSlots(most int) *Slots { return &Slots{most: most, shares: map[chan struct{}]share{}} }

// Claim takes a slot for an agent, unless all free slots are for agents that have waited longer. An
// agent that gets none stands in the line, and is woken when it may claim again.
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

// Leave takes an agent out of the line that no longer needs a slot.
func (s *Slots) Leave(agent chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.line, agent); at >= 0 {
		s.line = slices.Delete(s.line, at, at+1)
		s.wake()
	}
}

// Lend frees a slot of an agent while one of its commands waits for an answer, until takeBack is
// called. Otherwise the answer might have to come from an agent that itself waits for a slot. After
// takeBack, there may be one command too many for a while; no other one starts during that time.
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

// change adds to what an agent has, and wakes the agents for which there is a slot then. The caller
// holds mu.
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

// wake wakes the agents for which there is a slot. The caller holds mu.
func (s *Slots) wake() {
	for _, agent := range s.line[:max(0, min(len(s.line), s.free()))] {
		wait.Nudge(agent)
	}
}

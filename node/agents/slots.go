package agents

import (
	"slices"
	"sync"

	"github.com/parleyfleet/parley/internal/wait"
)

// Slots bound how many commands of agents run at the same time on this host, and share the slots
// among the agents. Each agent that runs nothing has a slot kept for it, so the many and long runs
// of one agent never make another agent's first message wait. If there are more agents than slots,
// half of the slots are kept. The agent that has waited longest is next. After it was served, it
// stands at the end of the line again.
type Slots struct {
	mu        sync.Mutex // guards what follows, and what claimants hold
	most      int
	claimants map[*Claimant]bool // false: its agent is gone, and its commands still run
	line      []*Claimant        // of agents that wait, the longest first; each stands there once
}

// Claimant is an agent as Slots know it.
type Claimant struct {
	wake chan<- struct{} // gets a token when the agent may claim again
	used int             // commands that run
	lent int             // how many of these wait for an answer; more than `used` count for nothing
}

// NewSlots makes Slots with `most` slots.
func NewSlots(most int) *Slots { return &Slots{most: most, claimants: map[*Claimant]bool{}} }

// Join has a slot kept for an agent, until End. The agent is woken by the channel.
func (s *Slots) Join(wake chan<- struct{}) *Claimant {
	s.mu.Lock()
	defer s.mu.Unlock()
	claimant := &Claimant{wake: wake}
	s.claimants[claimant] = true
	return claimant
}

// End keeps no slot for an agent any more, and takes it out of the line.
func (s *Slots) End(claimant *Claimant) {
	s.Leave(claimant)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimants[claimant] = false
	s.change(claimant, 0, 0)
}

// Claim takes a slot for an agent, unless all free slots are for others. An agent that gets none
// stands in the line, and is woken when it may claim again.
func (s *Slots) Claim(claimant *Claimant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.line, claimant) {
		s.line = append(s.line, claimant)
	}
	if !slices.Contains(s.next(), claimant) {
		return false
	}
	at := slices.Index(s.line, claimant)
	s.line = slices.Delete(s.line, at, at+1)
	s.change(claimant, 1, 0)
	return true
}

// Release gives a slot of an agent back.
func (s *Slots) Release(claimant *Claimant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(claimant, -1, 0)
}

// Leave takes an agent out of the line that no longer needs a slot.
func (s *Slots) Leave(claimant *Claimant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.line, claimant); at >= 0 {
		s.line = slices.Delete(s.line, at, at+1)
		s.wake()
	}
}

// Lend frees a slot of an agent while one of its commands waits for an answer, until takeBack is
// called. Otherwise the answer might have to come from an agent that itself waits for a slot. After
// takeBack, there may be one command too many for a while; no other one starts during that time.
func (s *Slots) Lend(claimant *Claimant) (takeBack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(claimant, 0, 1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.change(claimant, 0, -1)
	}
}

// Usage is how many commands run, how many agents wait for a slot, and how many
// commands may run.
func (s *Slots) Usage() (used, waiting, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for claimant := range s.claimants {
		used += claimant.used
	}
	return used, len(s.line), s.most
}

// Waits reports whether an agent stands in the line.
func (s *Slots) Waits(claimant *Claimant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.line, claimant)
}

// change adds to what an agent has, and wakes the agents for which there is a slot then. The caller
// holds mu.
func (s *Slots) change(claimant *Claimant, used, lent int) {
	claimant.used, claimant.lent = claimant.used+used, claimant.lent+lent
	if !s.claimants[claimant] && claimant.used == 0 {
		delete(s.claimants, claimant)
	}
	s.wake()
}

// next returns the agents in the line that may claim a slot now. An agent that has commands running
// gets none of the slots that are kept for those that have not. The caller holds mu.
func (s *Slots) next() (may []*Claimant) {
	free, kept, agents := s.most, 0, 0
	for claimant, stays := range s.claimants {
		free -= max(0, claimant.used-claimant.lent)
		if stays {
			agents++
		}
		if stays && claimant.used == 0 {
			kept++
		}
	}
	if agents > s.most {
		kept = min(kept, s.most/2)
	}
	for _, claimant := range s.line {
		if free <= 0 {
			break
		}
		if claimant.used > 0 && free <= kept {
			continue
		}
		if free--; claimant.used == 0 {
			kept--
		}
		may = append(may, claimant)
	}
	return may
}

// wake wakes the agents for which there is a slot. The caller holds mu.
func (s *Slots) wake() {
	for _, claimant := range s.next() {
		wait.Nudge(claimant.wake)
	}
}

package fleet

import (
	"maps"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/protocol"
)

// withRuns are the kinds that a state folds. Runs are always among them, because whether a message
// is read depends on runs.
func withRuns(kinds []affair.Any) []affair.Any {
	if slices.ContainsFunc(kinds, func(k affair.Any) bool { _, ok := k.(*affair.Kind[runs.Run]); return ok }) {
		return kinds
	}
	return slices.Concat([]affair.Any{runs.Kind()}, kinds)
}

// Run is what the record says of an agent's work on a message.
func (s *State) Run(p protocol.Path, agent string) runs.Run {
	id := runID(p, agent)
	if !s.hasDeed(id) {
		return runs.Kind().Begin(id.Name)
	}
	return s.Redactions.failure(Value(s, runs.Kind(), id.Name, time.Time{}))
}

func runID(p protocol.Path, agent string) affair.ID {
	return affair.ID{Kind: runs.KindName, Name: runs.Name(p, agent)}
}

// deadRuns keeps which runs are dead letters, so that repeated questions do not fold all runs each
// time. The zero value has looked at none.
type deadRuns struct {
	epochs int                 // the epochs of the keys at the last look
	dead   map[string]runs.Run // by the name of the affair; nil: none was looked at yet
	moved  map[string]bool     // affairs with deeds that came or went since
}

// touched notes that a deed of a run came or went.
func (d *deadRuns) touched(id affair.ID) {
	if id.Kind == runs.KindName && d.dead != nil {
		d.moved[id.Name] = true
	}
}

// look brings what is kept up to date.
func (d *deadRuns) look(s *State) {
	names := maps.Keys(d.moved)
	if epochs := s.keys.Epochs(); d.dead == nil || epochs != d.epochs {
		d.epochs, d.dead, names = epochs, map[string]runs.Run{}, slices.Values(s.Affairs(runs.KindName))
	}
	for name := range names {
		if r := Value(s, runs.Kind(), name, time.Time{}); r.Dead != nil {
			d.dead[name] = r
		} else {
			delete(d.dead, name)
		}
	}
	d.moved = map[string]bool{}
}

// DeadLetters are the messages on which agents have failed, in the order in which they were given
// up. It leaves out those that somebody has had tried again. It leaves out those that were put
// away, unless `dropped` is true.
func (s *State) DeadLetters(dropped bool) []runs.Run {
	s.dead.look(s)
	var dead []runs.Run
	for _, r := range s.dead.dead {
		if dropped || r.Dropped == nil {
			dead = append(dead, s.Redactions.failure(r))
		}
	}
	slices.SortFunc(dead, func(a, b runs.Run) int {
		if a.Dead.Before(b.Dead.Position) {
			return -1
		}
		return 1
	})
	return dead
}

// DeadCount is how many messages the agent of a host has failed on, without those that somebody has
// had tried again or has put away.
func (s *State) DeadCount(who Who) (n int) {
	s.dead.look(s)
	for _, r := range s.dead.dead {
		if r.Dropped == nil && r.Agent == who.Name && r.Dead.Host == who.Host {
			n++
		}
	}
	return n
}

package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/protocol"
)

// withRuns are the kinds that a state folds: what was read depends on runs, so they are
// always among them.
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
	return Value(s, runs.Kind(), id.Name, time.Time{})
}

func runID(p protocol.Path, agent string) affair.ID {
	return affair.ID{Kind: runs.KindName, Name: runs.Name(p, agent)}
}

// DeadLetters are the messages that agents have failed on, that nobody has had tried
// again or, unless dropped, put away; in the order in which they were given up.
func (s *State) DeadLetters(dropped bool) []runs.Run {
	var dead []runs.Run
	for _, name := range s.Affairs(runs.KindName) {
		r := Value(s, runs.Kind(), name, time.Time{})
		if r.Dead != nil && (dropped || r.Dropped == nil) {
			dead = append(dead, r)
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

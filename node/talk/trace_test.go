package talk

import (
	"testing"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// A host that is asked tells what it did, and not what the record says. It prevents: a host has a
// message shown as answered, or given up, when the record says nothing of that.
func TestAHostTellsOnlyItsOwnSteps(t *testing.T) {
	m := &traced{it: &fleet.Item{}}
	var said []protocol.TraceStep
	for step := range oursToTell {
		said = append(said, protocol.TraceStep{Step: step, Agent: "mawjs", Attempt: 3})
	}
	m.add("eve", append(said, protocol.TraceStep{Step: protocol.TraceCame, By: "bus"}, protocol.TraceStep{Step: "of-a-later-version"}))
	if got := m.steps; len(got) != 2 || got[0].Step != protocol.TraceCame || got[0].Host != "eve" || got[1].Step != "of-a-later-version" {
		t.Errorf("told: %+v", got)
	}
}

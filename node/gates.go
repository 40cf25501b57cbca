package node

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Gates answers control.Gates: it lists what parties and inquiries ask humans.
func (n *Node) Gates(ctx context.Context, r control.GatesRequest) (control.GateList, error) {
	of, err := n.inquiries.Gates(r)
	if err != nil || r.ID != "" && len(of) > 0 {
		return control.GateList{Human: n.cfg.Human, HasKey: n.humanHasKey(), Gates: of}, err
	}
	list, err := n.parties.Gates(ctx, r)
	if err != nil {
		return list, err
	}
	list.Gates = append(list.Gates, of...)
	slices.SortStableFunc(list.Gates, func(a, b control.Gate) int { return a.Time.Compare(b.Time) })
	return list, nil
}

func (n *Node) humanHasKey() (has bool) {
	n.folded(func(s *fleet.State) {
		if host, joined := s.Keys().Host(n.cfg.Alias); joined {
			_, has, _ = host.HumanKeyNow(n.cfg.Human.String())
		}
	})
	return has
}

// gatesWaiting is how many gates wait for each human, by HUMAN@HOST. It is asked while the state is
// read.
func (n *Node) gatesWaiting(s *fleet.State) map[string]int {
	waiting := n.parties.Waiting(s)
	for human, count := range n.inquiries.Waiting(s) {
		waiting[human] += count
	}
	return waiting
}

// gateAt is the gate that a message asks, if it waits for this host's human. It is asked while the
// state is read.
func (n *Node) gateAt(s *fleet.State, p protocol.Path) (control.Gate, bool) {
	if g, ok := n.parties.GateAt(s, p); ok {
		return g, true
	}
	return n.inquiries.GateAt(s, p)
}

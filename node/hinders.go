package node

import (
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// hinders is what is in the way of a message on this host, beside what it waits for in a queue: as
// steps of its trace, which other hosts are told.
func hinders(n *Node, p protocol.Path) []protocol.TraceStep {
	steps := n.serving.Hinders(p)
	add := func(s protocol.TraceStep) {
		s.Step = protocol.TraceHinders
		steps = append(steps, s)
	}
	if err := n.record.Status().StoreError; err != nil {
		add(protocol.TraceStep{By: string(causes.DiskFull), Text: err.Error()})
	}
	if why := n.halts.Reasons(); len(why) > 0 {
		add(protocol.TraceStep{By: string(control.WhyHalted), Text: strings.Join(why, ", and ")})
	}
	var to []protocol.Name
	n.folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(p)
		if !there {
			return
		}
		if g, waits := n.gateAt(s, p); waits {
			add(protocol.TraceStep{Agent: n.cfg.Human, By: string(causes.Gate), Text: g.Title})
		}
		for _, a := range n.roster.All() {
			if who := (fleet.Who{Name: a.Name.String(), Host: n.cfg.Alias}); !it.ToAll() && s.Talk.Reaches(it, who) && !s.Talk.ReadBy(it, who) {
				to = append(to, a.Name)
			}
		}
	})
	for _, name := range to {
		if id, until, text := n.seats.Hinders(name); id != "" {
			add(protocol.TraceStep{Agent: name, By: string(id), Next: until.UTC(), Text: text})
		}
	}
	return steps
}

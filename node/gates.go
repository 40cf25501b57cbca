package node

import (
	"cmp"
	"context"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Gates answers control.Gates: it lists what parties and inquiries ask humans.
func (n *Node) Gates(_ context.Context, r control.GatesRequest) (control.GateList, error) {
	of, err := n.inquiries.Gates(r)
	if err == nil && (r.ID == "" || len(of) == 0) {
		var ofParties []control.Gate
		ofParties, err = n.parties.Gates(r)
		of = append(ofParties, of...)
	}
	list := control.GateList{Human: n.cfg.Human, Gates: of}
	if err != nil {
		return list, err
	}
	n.folded(func(s *fleet.State) {
		if host, joined := s.Keys().Host(n.cfg.Alias); joined {
			_, list.HasKey, _ = host.HumanKeyNow(n.cfg.Human.String())
		}
	})
	slices.SortStableFunc(list.Gates, func(a, b control.Gate) int { return a.Time.Compare(b.Time) })
	return list, nil
}

// clearing has what a human was asked count as read by them once `answer` has settled it: it would
// wait in their inbox for ever. If that fails, what was decided stands.
func clearing[Q, A any](n *Node, answer func(context.Context, control.Caller, Q) (A, error), channelOf func(A) string) func(context.Context, control.Caller, Q) (A, error) {
	return func(ctx context.Context, by control.Caller, r Q) (A, error) {
		a, err := answer(ctx, by, r)
		if err != nil {
			return a, err
		}
		human := fleet.Who{Name: n.cfg.Human.String(), Host: n.cfg.Alias}
		var settled []protocol.Path
		n.folded(func(s *fleet.State) {
			for it := range s.Talk.Inbox(human, false) {
				if it.Path.Channel().String() != channelOf(a) {
					continue
				}
				_, waits := n.gateAt(s, it.Path)
				if g := gateChange(n, s, it); !waits && g != nil && g.Change == control.GateOpened && g.Host == n.cfg.Alias {
					settled = append(settled, it.Path)
				}
			}
		})
		for _, p := range settled {
			if _, err := n.decider.Store(ctx, writing.Called(by, fleet.GiveReceipt{As: human, Of: p}), p); err != nil {
				n.log.Warn().Err(err).Msg("what a human has decided stays in their inbox")
			}
		}
		return a, nil
	}
}

// gateChange says which gate a message opens or answers. It is nil if the message does neither. It
// is asked while the state is read.
func gateChange(n *Node, s *fleet.State, it *fleet.Item) *control.GateChange {
	return cmp.Or(n.parties.GateChange(s, it), n.inquiries.GateChange(s, it))
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

package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
)

// inbox is the mail of people and agents of this host: what came, and what of it is read.
type inbox struct {
	folded  folded.State
	roster  *agents.Roster
	actors  *actors
	views   *views
	decider *decider
}

// Inbox answers control.Inbox.
func (b *inbox) Inbox(_ context.Context, by control.Caller, r control.InboxRequest) ([]control.Message, error) {
	who, err := b.actors.reader(by, r.As)
	if err != nil {
		return nil, err
	}
	var box []facts
	b.folded(func(s *fleet.State) {
		for it := range s.Talk.Inbox(who, r.All) {
			if box = append(box, factsOf(s, it)); len(box) == r.Limit {
				break
			}
		}
	})
	if len(box) > 0 && !r.All {
		b.actors.gave(by, box[len(box)-1].item.Path)
	}
	return b.views.all(box), nil
}

// Read answers control.Read.
func (b *inbox) Read(ctx context.Context, by control.Caller, r control.ReadRequest) (control.Message, error) {
	f, err := b.views.find(r.Path)
	if err != nil {
		return control.Message{}, err
	}
	who, err := b.actors.reader(by, r.As)
	if err != nil {
		return control.Message{}, err
	}
	if _, err := b.decider.act(ctx, called(by, fleet.Acknowledge{As: who, Of: f.item.Path}), f.item.Path); err != nil {
		return control.Message{}, asError(err)
	}
	b.actors.gave(by, f.item.Path)
	return b.views.now(f.item)
}

package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// do carries out a command of an affair. Commands of one affair take turns from Decide
// until what was decided is folded, so each is given what came of those before. The
// error says too why a deed is void: another host may have been faster.
func (d *decider) do(ctx context.Context, c affair.Command) ([]written, error) {
	defer d.turns.lock(c.ID)()
	deeds, err := d.act(ctx, fleet.Do{Command: c}, protocol.Path{})
	if err != nil {
		return nil, err
	}
	d.folded(func(s *fleet.State) {
		for _, w := range deeds {
			if why := s.Void(w.item); why != nil {
				err = refusal.New(refusal.Forbidden, "", "%s is written, and does not count: %v", w.message.Path, why)
				return
			}
		}
	})
	return deeds, err
}

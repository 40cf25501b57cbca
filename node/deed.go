package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// do carries out a command of an affair. Commands of one affair take turns, from Decide until what
// was decided is folded. So each is given the result of those before it. The error may also say why
// a deed is void: another host may have been faster.
func (d *decider) do(ctx context.Context, c affair.Command) ([]protocol.Path, error) {
	return d.carryOut(ctx, c, fleet.Do{Command: c})
}

// doFor is do for a caller. It notes what is known of why the caller asks (R13).
func (d *decider) doFor(ctx context.Context, by control.Caller, c affair.Command) ([]protocol.Path, error) {
	return d.carryOut(ctx, c, called(by, fleet.Do{Command: c}))
}

func (d *decider) carryOut(ctx context.Context, c affair.Command, decided fleet.Command) ([]protocol.Path, error) {
	defer d.turns.lock(c.ID)()
	deeds, err := d.act(ctx, decided, protocol.Path{})
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
	return writtenPaths(deeds), err
}

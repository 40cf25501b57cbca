package node

import (
	"context"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// Wake answers control.Wake.
func (sv *serving) Wake(ctx context.Context, r control.WakeRequest) (control.Woken, error) {
	if r.Agent != "" && !sv.roster.Serves(r.Agent) {
		return control.Woken{}, agents.NotServed(r.Agent)
	}
	before := sv.brought.Load()
	woken := control.Woken{Remote: sv.record.Status().Remote}
	if err := sv.record.Fetch(ctx); err != nil {
		if ctx.Err() != nil {
			return woken, asError(ctx.Err())
		}
		woken.RemoteError = err.Error()
	}
	sv.doors.fillAll(r.Agent)
	if at := sv.record.Status(); at.Remote != "" {
		woken.Unpushed = at.Unrecorded + at.Unpushed
	}
	woken.Arrived, woken.Agents = int(sv.brought.Load()-before), sv.views(r.Agent)
	return woken, nil
}

package serving

import (
	"context"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// Wake answers control.Wake.
func (sv *Serving) Wake(ctx context.Context, r control.WakeRequest) (control.Woken, error) {
	if r.Agent != "" && !sv.Roster.Serves(r.Agent) {
		return control.Woken{}, agents.NotServed(r.Agent)
	}
	before := sv.Brought.Load()
	woken := control.Woken{Remote: sv.Record.Status().Remote}
	if err := sv.Record.Fetch(ctx); err != nil {
		if ctx.Err() != nil {
			return woken, ctx.Err()
		}
		woken.RemoteError = err.Error()
	}
	sv.doors.fillAll(r.Agent)
	if at := sv.Record.Status(); at.Remote != "" {
		woken.Unpushed = at.Unrecorded + at.Unpushed
	}
	woken.Arrived, woken.Agents = int(sv.Brought.Load()-before), sv.Views(r.Agent)
	return woken, nil
}

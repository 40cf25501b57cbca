package serving

import (
	"context"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// Set answers control.SetAgent. Messages that wait for the agent are handled as it is served from
// now on. A command that runs ends as it began.
func (sv *Serving) Set(ctx context.Context, r control.SetAgentRequest) (none control.ChangedAgent, err error) {
	sv.Roster.Serving.Lock()
	defer sv.Roster.Serving.Unlock()
	was, err := sv.Roster.Get(r.Name)
	if err != nil {
		return none, err
	}
	a, err := agents.Changed(was, r)
	if err != nil {
		return none, err
	}
	if a.Door == configs.DoorExec && was.Door != configs.DoorExec {
		a.DispatchSince = sv.Record.Tip() // what waits in its inbox was not meant for a command (R8)
	}
	if err := agents.CheckLimits(sv.Keepers != nil, a); err != nil {
		return none, err
	}
	if err := sv.checkProfile("change", a); err != nil {
		return none, err
	}
	if err := configs.WriteAgent(sv.Home.Agents(), a); err != nil {
		return none, err
	}
	if a.Door != was.Door {
		sv.doors.close(a.Name)
	}
	sv.Roster.Put(a)
	sv.doors.change(a)
	sv.Look()
	sv.Changed()
	err = sv.Publish(ctx)
	sv.Announce()
	return control.ChangedAgent{Agent: sv.view(a), Changed: agents.Differences(was, a)}, err
}

package node

import (
	"context"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// Show answers control.ShowAgent.
func (sv *serving) Show(_ context.Context, r control.AgentRequest) (control.AgentSettings, error) {
	a, err := sv.roster.Get(r.Name)
	if err != nil {
		return control.AgentSettings{}, err
	}
	v := control.AgentSettings{Agent: sv.view(a), Settings: agents.Settings(a)}
	for i := range v.Settings {
		if s := &v.Settings[i]; s.Name == "profile" && v.ProfileState != "" {
			s.Value += " (" + profileText(v.ProfileState, agents.ProfileName(a)) + ")"
		}
	}
	return v, nil
}

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
	return control.AgentSettings{Agent: sv.view(a), Settings: agents.Settings(a)}, nil
}

package node

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// Show answers control.ShowAgent.
func (sv *serving) Show(_ context.Context, r control.AgentRequest) (control.AgentSettings, error) {
	a, err := sv.roster.Get(r.Name)
	if err != nil {
		return control.AgentSettings{}, err
	}
	settings := agents.Settings(a)
	for i := range settings {
		if passed := agents.Passed(a); settings[i].Name == "env" && len(passed) > 0 {
			settings[i].Value += ": " + strings.Join(passed, " ")
		}
	}
	return control.AgentSettings{Agent: sv.view(a), Settings: settings}, nil
}

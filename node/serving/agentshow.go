package serving

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// Show answers control.ShowAgent.
func (sv *Serving) Show(_ context.Context, r control.AgentRequest) (control.AgentSettings, error) {
	a, err := sv.Roster.Get(r.Name)
	if err != nil {
		return control.AgentSettings{}, err
	}
	v := control.AgentSettings{Agent: sv.view(a), Settings: agents.Settings(a)}
	for i := range v.Settings {
		switch s := &v.Settings[i]; {
		case s.Name == "profile" && v.ProfileState != "":
			s.Value += " (" + profileText(v.ProfileState, agents.ProfileName(a)) + ")"
		case s.Name == "env":
			if passed := agents.Passed(a); len(passed) > 0 {
				s.Value += ": " + strings.Join(passed, " ")
			}
		}
	}
	return v, nil
}

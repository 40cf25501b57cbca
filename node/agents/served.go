package agents

import (
	"cmp"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// View is how an agent is served, as it is shown.
func View(a configs.Agent) control.Agent {
	v := control.Agent{
		Name: a.Name, Door: a.Door, Input: InputOf(a), Profile: a.Profile.String(), Preset: a.Preset, Dir: a.Dir, Paused: a.Paused, RunAs: a.RunAs,
		Env: a.Env.WithoutValues(), Examiner: a.Examiner, Soul: a.Soul.String(), Limits: a.Limits.Texts(), Wake: a.Wake, Quiet: a.Quiet.Texts(),
	}
	if a.Door == configs.DoorExec {
		v.Accepts = cmp.Or(a.Accepts, configs.AcceptAnyone)
	}
	for _, act := range a.WakesOn {
		v.WakesOn = append(v.WakesOn, string(act))
	}
	if a.TakeoverAfter != 0 {
		v.TakeoverAfter = configs.ShowTakeover(a.TakeoverAfter)
	}
	if len(a.Tiers) > 0 {
		v.Command = a.Tiers[0].Exec
	}
	if len(a.Tiers) > 1 || len(a.Tiers) == 1 && a.Tiers[0].Count > 1 {
		for _, t := range a.Tiers {
			v.Tiers = append(v.Tiers, control.AgentTier{Name: t.Name, Count: t.Count, Exec: t.Exec})
		}
	}
	return v
}

// InputOf is what the agent's command is given, "" where it has none.
func InputOf(a configs.Agent) string {
	if a.Door == configs.DoorExec && a.Input == "" {
		return configs.InputText
	}
	return a.Input
}

// ProfileName is the profile that an agent's prompts begin with, if there is one
// of that name.
func ProfileName(a configs.Agent) string {
	if a.Profile != "" {
		return a.Profile.String()
	}
	return a.Name.String()
}

// MayPause refuses to pause an agent of which the node runs nothing.
func MayPause(a configs.Agent) error {
	if a.Door != configs.DoorExec {
		return control.Errorf(control.KindRefused, "", "%s asks for its mail itself: there is nothing to pause or resume", a.Name)
	}
	return nil
}

package agents

import (
	"cmp"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
)

// View shows how an agent is served.
func View(a configs.Agent) control.Agent {
	v := control.Agent{
		Name: a.Name, Door: a.Door, Input: InputOf(a), Profile: a.Profile.String(), Preset: a.Preset, Dir: a.Dir, AgentWork: control.AgentWork{Paused: a.Paused}, RunAs: a.RunAs,
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
		v.Tiers = each.Of(a.Tiers, func(t configs.Tier) control.AgentTier {
			return control.AgentTier{Name: t.Name, Count: t.Count, Exec: t.Exec}
		})
	}
	return v
}

// InputOf is what the agent's command is given; "" if it has no command.
func InputOf(a configs.Agent) string {
	if a.Door == configs.DoorExec && a.Input == "" {
		return configs.InputText
	}
	return a.Input
}

// ProfileName is the name of the profile with which the agent's prompts begin, if such a profile
// exists.
func ProfileName(a configs.Agent) string {
	if a.Profile != "" {
		return a.Profile.String()
	}
	return a.Name.String()
}

// MayPause returns an error for an agent of which the node runs nothing.
func MayPause(a configs.Agent) error {
	if a.Door != configs.DoorExec {
		return control.Errorf(control.KindRefused, "", "%s asks for its mail itself: there is nothing to pause or resume", a.Name)
	}
	return nil
}

// Differences are the settings of an agent that a change has changed, in a form for people. They
// contain no values of environment variables, which may be secrets.
func Differences(was, now configs.Agent) []control.SettingChange {
	changed := []control.SettingChange{}
	before := configs.AgentSettings(&was)
	for i, s := range configs.AgentSettings(&now) {
		differs, inSecret := s.Differs(before[i])
		if !differs || s.Name == "" {
			continue
		}
		c := control.SettingChange{Name: s.Name, Was: before[i].Show(), Now: s.Show()}
		if inSecret {
			c.Now += " (other values)"
		}
		changed = append(changed, c)
	}
	return changed
}

// Settings are those settings of an agent that have a value, in a form for people. Like
// Differences, they contain no values of environment variables.
func Settings(a configs.Agent) []control.Setting {
	var shown []control.Setting
	for _, s := range configs.AgentSettings(&a) {
		if value := s.Show(); value != "" && s.Name != "" {
			shown = append(shown, control.Setting{Name: s.Name, Value: value})
		}
	}
	return shown
}

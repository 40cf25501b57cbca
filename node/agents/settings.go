package agents

import (
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

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

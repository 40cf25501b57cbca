package agents

import (
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// Every preset is taken. Its command lines can be split, and what others say cannot become part of
// a script in them.
func TestPresetsCanBeServed(t *testing.T) {
	presets, err := configs.Presets()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range presets {
		a, err := Added(control.AddAgentRequest{Name: p.Name, Preset: p.Name})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if a.Input != configs.InputPrompt || a.Timeout != p.Timeout || a.Preset != p.Name {
			t.Errorf("%s became %+v", p.Name, a)
		}
	}
}

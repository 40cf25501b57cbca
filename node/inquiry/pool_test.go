package inquiry

import (
	"testing"

	"github.com/parleyfleet/parley/configs"
)

// "agent add" stores whole paths. It prevents: a member made from a preset that does not go on with its
// session for that, and one that goes on with a command that is not the preset's.
func TestTheProgramOfAPreset(t *testing.T) {
	p, err := configs.FindPreset("claude")
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		p.Exec: p.Resume, "/opt/my/bin/" + p.Exec: "/opt/my/bin/" + p.Resume,
		"bin/" + p.Exec: "", "/bin/sh -c /bin/" + p.Exec: "", "'/a b/'" + p.Exec: "", "/opt/my" + p.Exec: "", p.Exec + " --verbose": "",
	} {
		a := configs.Agent{Preset: p.Name, Tiers: []configs.Tier{{Exec: command}}}
		if got := preset(a).Resume; got != want {
			t.Errorf("%s goes on with %q, want %q", command, got, want)
		}
	}
}

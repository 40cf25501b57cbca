package agents

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// A change is told by what held before and what holds now. The value of a variable of the
// environment is not told.
func TestDifferencesOfSettings(t *testing.T) {
	was := configs.Agent{
		Name: "bo", Door: configs.DoorExec, Tiers: []configs.Tier{{Name: "default", Count: 1, Exec: "cat"}}, Env: configs.Variables{"PATH", "TOKEN=one"},
	}
	for name, test := range map[string]struct {
		change func(*configs.Agent)
		want   []control.SettingChange
	}{
		"nothing":           {func(*configs.Agent) {}, []control.SettingChange{}},
		"attempts":          {func(a *configs.Agent) { a.Attempts = 5 }, []control.SettingChange{{Name: "attempts", Was: "3", Now: "5"}}},
		"what holds anyway": {func(a *configs.Agent) { a.Attempts, a.Rerun, a.Accepts = 3, configs.RerunAgain, configs.AcceptAnyone }, []control.SettingChange{}},
		"timeout":           {func(a *configs.Agent) { a.Timeout = 90 * time.Second }, []control.SettingChange{{Name: "timeout", Was: "as config.yaml says", Now: "1m30s"}}},
		"a secret":          {func(a *configs.Agent) { a.Env = configs.Variables{"PATH", "TOKEN=two"} }, []control.SettingChange{{Name: "env", Was: "PATH TOKEN=…", Now: "PATH TOKEN=… (other values)"}}},
		"tiers": {
			func(a *configs.Agent) { a.Tiers[0].Count = 2 },
			[]control.SettingChange{{Name: "exec", Was: "cat", Now: ""}, {Name: "tier", Was: "", Now: "default*2=cat"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := was
			now.Tiers = append([]configs.Tier{}, was.Tiers...)
			test.change(&now)
			if diff := cmp.Diff(test.want, Differences(was, now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

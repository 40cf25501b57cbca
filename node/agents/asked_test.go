package agents

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// Behind another door an agent keeps what still counts, and loses what would have its file refused.
// It prevents: an agent gets a door, and settings beside it that have no effect there.
func TestAnAgentTakesItsSettingsToAnotherDoor(t *testing.T) {
	one := []configs.Tier{{Name: "small", Count: 3, Exec: "cat"}}
	exec := configs.Agent{
		Name: "bo", Door: configs.DoorExec, Tiers: one, Attempts: 5, Input: configs.InputPrompt, Accepts: configs.AcceptVerified,
		Env: configs.Variables{"PATH"}, Limits: configs.Limits{Nice: 3}, Soul: "nat", RunReplies: true,
	}
	inbox := configs.Agent{Name: "bo", Door: configs.DoorInbox, Soul: "nat"}
	woken := configs.Agent{Name: "bo", Door: configs.DoorInbox, Soul: "nat", Env: exec.Env, Limits: exec.Limits, Wake: "ring"}
	for name, test := range map[string]struct {
		was   configs.Agent
		given control.Given
		want  configs.Agent
		wrong string // "": nothing
	}{
		"to the inbox":              {exec, control.Given{"inbox": {"true"}}, inbox, ""},
		"to an inbox with a waker":  {exec, control.Given{"inbox": {"true"}, "wake": {"ring"}}, woken, ""},
		"with what has no use":      {exec, control.Given{"inbox": {"true"}, "attempts": {"7"}}, inbox, "attempts: an agent behind the inbox door runs no command: there is nothing to try again"},
		"to a command":              {woken, control.Given{"exec": {"dog"}}, configs.Agent{Name: "bo", Door: configs.DoorExec, Soul: "nat", Env: exec.Env, Limits: exec.Limits, Tiers: []configs.Tier{{Name: "default", Count: 1, Exec: "dog"}}}, ""},
		"to a command and a waker":  {inbox, control.Given{"exec": {"dog"}, "wake": {"ring"}}, inbox, "there is nothing to wake"},
		"one command, as many runs": {exec, control.Given{"exec": {"dog"}}, changed(exec, func(a *configs.Agent) { a.Tiers = []configs.Tier{{Name: "small", Count: 3, Exec: "dog"}} }), ""},
		"taken back":                {exec, control.Given{"soul": {""}, "env": {""}, "limit": {"nice="}, "attempts": {""}}, changed(exec, func(a *configs.Agent) { a.Soul, a.Env, a.Limits, a.Attempts = "", nil, configs.Limits{}, 0 }), ""},
		"what nobody knows":         {exec, control.Given{"colour": {"red"}}, exec, `there is no setting "colour"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Changed(test.was, control.SetAgentRequest{Name: "bo", Settings: test.given})
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("changed with %v, want %q", err, test.wrong)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func changed(a configs.Agent, change func(*configs.Agent)) configs.Agent {
	change(&a)
	return a
}

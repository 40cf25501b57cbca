package collab

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The agent that acts (R59) is the agent that calls. For a person it is the agent that is named,
// the agent in whose folder they are, or the only agent here.
func TestActs(t *testing.T) {
	agent := func(name protocol.Name, dir string) configs.Agent { return configs.Agent{Name: name, Dir: dir} }
	tests := []struct {
		name   string
		agents []configs.Agent
		by     control.Caller
		asked  control.Acting
		want   string // "ME for HUMAN by CHOICE", or a part of the error
	}{
		{"an agent for itself", nil, control.Caller{Kind: control.ByAgent, Name: "volt"}, control.Acting{Dir: "/w/mawjs"}, "volt for  by "},
		{"the one that is named", []configs.Agent{agent("a", "/w/a"), agent("b", "/w/b")}, control.Caller{Kind: control.Operator}, control.Acting{As: "b", Dir: "/w/a"}, "b for nat by "},
		{"the human", nil, control.Caller{Kind: control.Operator}, control.Acting{As: "nat"}, "nat for nat by "},
		{"a name that is not here", []configs.Agent{agent("a", "")}, control.Caller{Kind: control.Operator}, control.Acting{As: "c"}, `this host serves no agent "c"`},
		{"the folder", []configs.Agent{agent("a", "/w/a"), agent("b", "/w/b")}, control.Caller{Kind: control.Operator}, control.Acting{Dir: "/w/b/src/x"}, "b for nat by folder"},
		{"the deeper of two folders", []configs.Agent{agent("a", "/w"), agent("b", "/w/b")}, control.Caller{Kind: control.Operator}, control.Acting{Dir: "/w/b/src"}, "b for nat by folder"},
		{"a folder that only begins alike", []configs.Agent{agent("a", "/w/a"), agent("b", "/w/b")}, control.Caller{Kind: control.Operator}, control.Acting{Dir: "/w/ab"}, "serves a, b"},
		{"two in one folder", []configs.Agent{agent("a", "/w"), agent("b", "/w")}, control.Caller{Kind: control.Operator}, control.Acting{Dir: "/w"}, "serves a, b"},
		{"the only one", []configs.Agent{agent("a", "/w/a")}, control.Caller{Kind: control.Operator}, control.Acting{Dir: "/tmp"}, "a for nat by only"},
		{"none", nil, control.Caller{Kind: control.Operator}, control.Acting{Dir: "/tmp"}, "this host serves no agent"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := New(Options{Human: "nat", Agents: func() []configs.Agent { return test.agents }})
			who, err := c.acts(test.by, test.asked)
			got := who.Me + " for " + who.Human + " by " + who.Chosen
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != test.want || err != nil && !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

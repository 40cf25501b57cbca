package hosts

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/protocol"
)

// Every tier that an agent's file may name is told to the fleet in such a way that it can be read.
func TestEveryTierOfAnAgentsFileIsRead(t *testing.T) {
	const letters = "aZ0._-/ *,:=\n"
	try := func(name string) {
		a := configs.Agent{Name: "mawjs", Door: configs.DoorExec, Tiers: []configs.Tier{{Name: name, Count: 1, Exec: "cat"}}}
		if a.Validate() != nil {
			return
		}
		says := protocol.HostState{Host: "white", Agents: []protocol.HostedAgent{hosted(a)}}
		got, err := protocol.ParseHost(protocol.FormatHost(protocol.ActHostAgents, says))
		if err != nil || len(got.Unread) > 0 || len(got.Agents) != 1 || got.Agents[0].Tiers[0].Name != name {
			t.Errorf("%q is read as %+v, %v", name, got, err)
		}
		i := protocol.Instance{Host: "white", Tier: name}
		if back, err := protocol.ParseInstance(i.String()); err != nil || back != i {
			t.Errorf("%q is read as %+v, %v", i, back, err)
		}
	}
	for _, a := range letters {
		try(string(a))
		for _, b := range letters {
			try(string(a) + string(b))
			for _, c := range letters {
				try(string(a) + string(b) + string(c))
			}
		}
	}
	try(strings.Repeat("/", 64))
	try(strings.Repeat("/", 65))
}

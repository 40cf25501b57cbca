package node

import (
	"context"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// SetAgent answers control.SetAgent. What waits for the agent is handled as it is
// served from now on; a command that runs ends as it began.
func (n *Node) SetAgent(ctx context.Context, r control.SetAgentRequest) (control.Agent, error) {
	n.roster.Serving.Lock()
	defer n.roster.Serving.Unlock()
	was, err := n.roster.Get(r.Name)
	if err != nil {
		return control.Agent{}, err
	}
	a, err := agents.Changed(was, r)
	if err != nil {
		return control.Agent{}, err
	}
	if a.Door == configs.DoorExec && was.Door != configs.DoorExec {
		a.DispatchSince = n.record.Tip() // what waits in its inbox was not meant for a command (R8)
	}
	n.mu.Lock()
	err = n.checkProfile("change", a)
	n.mu.Unlock()
	if err != nil {
		return control.Agent{}, err
	}
	if err := configs.WriteAgent(n.home.Agents(), a); err != nil {
		return control.Agent{}, asError(err)
	}
	if a.Door != was.Door {
		n.doors.close(a.Name)
	}
	n.roster.Put(a)
	n.doors.change(a)
	err = n.own.publish(ctx)
	n.presence.Announce()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.doors.view(n.state, a), asError(err)
}

package node

import (
	"context"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Agents answers control.Agents.
func (n *Node) Agents(context.Context) ([]control.Agent, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]control.Agent, 0, n.roster.Count())
	for _, a := range n.roster.All() {
		all = append(all, n.doors.view(n.state, a))
	}
	return all, nil
}

// AddAgent answers control.AddAgent.
func (n *Node) AddAgent(ctx context.Context, r control.AddAgentRequest) (control.Agent, error) {
	n.roster.Serving.Lock()
	defer n.roster.Serving.Unlock()
	a, err := n.newAgent(r)
	if err != nil {
		return control.Agent{}, err
	}
	if err := configs.WriteAgent(n.home.Agents(), a); err != nil {
		return control.Agent{}, asError(err)
	}
	n.roster.Put(a)
	if err := n.own.publish(ctx); err != nil {
		return control.Agent{}, asError(err)
	}
	n.doors.open(a)
	n.presence.Announce()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.doors.view(n.state, a), nil
}

// newAgent checks a request to serve an agent.
func (n *Node) newAgent(r control.AddAgentRequest) (configs.Agent, error) {
	a, err := agents.Added(r)
	if err != nil {
		return configs.Agent{}, err
	}
	a.Added, a.DispatchSince = n.now(), n.record.Tip()
	if err := n.doorsteps.Check(a); err != nil {
		return configs.Agent{}, err
	}
	if n.roster.Serves(a.Name.String()) {
		return configs.Agent{}, control.Errorf(control.KindConflict, "change it: parley agent set "+a.Name.String()+" …",
			"cannot add the agent %s: it is served here already", a.Name)
	}
	if a.Name == n.cfg.Human {
		return configs.Agent{}, control.Errorf(control.KindConflict, "choose another name",
			"cannot add the agent %s: that is the name of this host's human", a.Name)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return a, n.checkProfile("add", a)
}

// checkProfile refuses a profile that is not there. The caller holds mu.
func (n *Node) checkProfile(do string, a configs.Agent) error {
	if _, _, ok := n.state.Profiles.Of(a.Profile.String()); a.Profile != "" && !ok {
		return control.Errorf(control.KindNotFound, "write it: parley agent profile "+a.Profile.String()+" --set FILE",
			"cannot %s the agent %s: there is no actor profile called %q", do, a.Name, a.Profile)
	}
	return nil
}

// RemoveAgent answers control.RemoveAgent.
func (n *Node) RemoveAgent(ctx context.Context, r control.AgentRequest) (none control.None, err error) {
	n.roster.Serving.Lock()
	defer n.roster.Serving.Unlock()
	if !n.roster.Serves(r.Name) {
		return none, agents.NotServed(r.Name)
	}
	name := protocol.Name(r.Name)
	n.doors.close(name)
	if err := configs.RemoveAgent(n.home.Agents(), name, n.now()); err != nil {
		return none, asError(err)
	}
	n.roster.Remove(name)
	err = n.own.publish(ctx)
	n.presence.Announce()
	return none, asError(err)
}

// PauseAgent answers control.PauseAgent. The decision outlives the node.
func (n *Node) PauseAgent(_ context.Context, r control.PauseRequest) (control.Agent, error) {
	n.roster.Serving.Lock()
	defer n.roster.Serving.Unlock()
	a, err := n.roster.Get(r.Name)
	if err != nil {
		return control.Agent{}, err
	}
	if err := agents.MayPause(a); err != nil {
		return control.Agent{}, err
	}
	a.Paused = r.Paused
	if err := configs.WriteAgent(n.home.Agents(), a); err != nil {
		return control.Agent{}, asError(err)
	}
	n.roster.Put(a)
	n.doors.pause(a.Name, r.Paused)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.doors.view(n.state, a), nil
}

package node

import (
	"errors"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/writing"
)

// AgentFiles are the agents of a host whose node does not run. A change counts from the next start
// of the node, which tells the fleet.
type AgentFiles struct {
	home   configs.Home
	agents []configs.Agent
	lock   *flock.Flock
}

// OpenAgentFiles reads the agents of a home, and keeps its node from starting until Close. The
// error is homes.ErrLocked if the node runs, or is about to.
func OpenAgentFiles(home configs.Home) (*AgentFiles, error) {
	if err := home.Check(); err != nil {
		return nil, err
	}
	copied := new(configs.CopiedError)
	if _, err := home.CheckOrigin(); errors.As(err, &copied) {
		return nil, control.Errorf(control.KindConflict, copied.Hint(), "cannot change its agents: %v", err)
	}
	lock, err := homes.TakeLock(home)
	if err != nil {
		return nil, err
	}
	agents, err := configs.ReadAgents(home.Agents())
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return &AgentFiles{home: home, agents: agents, lock: lock}, nil
}

// Close lets the node start again.
func (f *AgentFiles) Close() error { return f.lock.Unlock() }

func (f *AgentFiles) find(name string) (configs.Agent, error) {
	i := slices.IndexFunc(f.agents, func(a configs.Agent) bool { return a.Name.String() == name })
	if i < 0 {
		return configs.Agent{}, agents.NotServed(name)
	}
	return f.agents[i], nil
}

// SetAgent changes how an agent is served, as Serving.Set does. Whether its profile exists is only
// seen when the node runs.
func (f *AgentFiles) SetAgent(r control.SetAgentRequest) (none control.ChangedAgent, err error) {
	was, err := f.find(r.Name)
	if err != nil {
		return none, err
	}
	a, err := agents.Changed(was, r)
	if err != nil {
		return none, err
	}
	if err := agents.CheckLimits(true, a); err != nil { // whoever starts a node lets it have keepers
		return none, err
	}
	if a.Door == configs.DoorExec && was.Door != configs.DoorExec {
		return none, control.Errorf(control.KindUnavailable, "parley up -d", "cannot change the agent %s: "+
			"only a running node knows which of the mail in its inbox is not for a command", a.Name)
	}
	return f.write(was, a)
}

// PauseAgent makes an agent's mail wait, or go on.
func (f *AgentFiles) PauseAgent(r control.PauseRequest) (none control.ChangedAgent, err error) {
	was, err := f.find(r.Name)
	a := was
	if err == nil {
		err = agents.MayPause(a)
	}
	if err == nil && r.Conversation != "" {
		err = control.Errorf(control.KindUnavailable, "parley up -d", "cannot let %s go on in a conversation: only a running node can speak there", a.Name)
	}
	if err != nil {
		return none, err
	}
	a.Paused = r.Paused
	return f.write(was, a)
}

// RemoveAgent stops serving an agent.
func (f *AgentFiles) RemoveAgent(r control.AgentRequest) (none control.None, err error) {
	a, err := f.find(r.Name)
	if err != nil {
		return none, err
	}
	if err := configs.RemoveAgent(f.home.Agents(), a.Name, time.Now()); err != nil {
		return none, writing.AsError(err)
	}
	f.agents = slices.DeleteFunc(f.agents, func(b configs.Agent) bool { return b.Name == a.Name })
	return none, nil
}

func (f *AgentFiles) write(was, a configs.Agent) (none control.ChangedAgent, err error) {
	if err := configs.WriteAgent(f.home.Agents(), a); err != nil {
		return none, writing.AsError(err)
	}
	f.agents[slices.IndexFunc(f.agents, func(b configs.Agent) bool { return b.Name == a.Name })] = a
	return control.ChangedAgent{Agent: agents.View(a), Changed: agents.Differences(was, a)}, nil
}

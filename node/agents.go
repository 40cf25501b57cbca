package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// defaultTier is the tier of an agent that was added with one command.
const defaultTier = "default"

// Agents implements control.Service.
func (n *Node) Agents(context.Context) ([]control.Agent, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]control.Agent, 0, len(n.agents))
	for _, a := range n.agents {
		all = append(all, n.agentView(a))
	}
	return all, nil
}

// agentView is an agent as it is shown. The caller holds mu.
func (n *Node) agentView(a configs.Agent) control.Agent {
	v := control.Agent{Name: a.Name, Door: a.Door, Dir: a.Dir}
	if len(a.Tiers) > 0 {
		v.Command = a.Tiers[0].Exec
	}
	if w := n.workers[a.Name]; w != nil {
		v.Queued = len(w.queue)
		v.Running = len(w.held) - len(w.queue)
	}
	if a.Door == configs.DoorInbox {
		v.Unread = len(n.state.Inbox(n.me(a.Name.String()), false))
	}
	return v
}

// AddAgent implements control.Service.
func (n *Node) AddAgent(ctx context.Context, r control.AddAgentRequest) (control.Agent, error) {
	n.serving.Lock()
	defer n.serving.Unlock()
	a, err := n.newAgent(r)
	if err != nil {
		return control.Agent{}, err
	}
	if err := configs.WriteAgent(n.home.Agents(), a); err != nil {
		return control.Agent{}, asError(err)
	}
	n.setAgents(func(all []configs.Agent) []configs.Agent { return append(all, a) })
	if err := n.publishHost(ctx); err != nil {
		return control.Agent{}, asError(err)
	}
	n.openDoor(a, n.taking, n.killing)
	n.announce()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.agentView(a), nil
}

// newAgent checks a request to serve an agent.
func (n *Node) newAgent(r control.AddAgentRequest) (configs.Agent, error) {
	usage := func(hint, format string, args ...any) (configs.Agent, error) {
		return configs.Agent{}, control.Errorf(control.KindUsage, hint, format, args...)
	}
	name, err := protocol.ParseName(r.Name)
	if err != nil {
		return usage("", "cannot add the agent: %v", err)
	}
	a := configs.Agent{Name: name, Dir: r.Dir, Added: n.now(), DispatchSince: n.record.Tip()}
	switch {
	case r.Inbox == (r.Exec != ""):
		return usage("parley agent add "+r.Name+" --exec 'COMMAND', or --inbox for an agent that asks for its mail itself",
			"cannot add the agent %s: it needs a command or the inbox, one of the two", name)
	case r.Inbox:
		a.Door = configs.DoorInbox
	default:
		a.Door = configs.DoorExec
		if _, err := door.SplitCommand(r.Exec); err != nil {
			return usage("", "cannot add the agent %s: %v", name, err)
		}
		a.Tiers = []configs.Tier{{Name: defaultTier, Count: 1, Exec: r.Exec}}
	}
	if info, err := os.Stat(a.Dir); a.Dir != "" && (err != nil || !info.IsDir() || !filepath.IsAbs(a.Dir)) {
		return usage("", "cannot add the agent %s: %s is not a folder that the node can enter", name, a.Dir)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serves(name.String()) {
		return configs.Agent{}, control.Errorf(control.KindConflict, "take it out first: parley agent remove "+name.String(),
			"cannot add the agent %s: it is served here already", name)
	}
	if name == n.cfg.Human {
		return configs.Agent{}, control.Errorf(control.KindConflict, "choose another name",
			"cannot add the agent %s: that is the name of this host's human", name)
	}
	return a, nil
}

// RemoveAgent implements control.Service.
func (n *Node) RemoveAgent(ctx context.Context, r control.RemoveAgentRequest) error {
	n.serving.Lock()
	defer n.serving.Unlock()
	n.mu.Lock()
	served := n.serves(r.Name)
	n.mu.Unlock()
	if !served {
		return control.Errorf(control.KindNotFound, "see: parley agent list", "no agent called %q is served here", r.Name)
	}
	name := protocol.Name(r.Name)
	n.closeDoor(name)
	if err := configs.RemoveAgent(n.home.Agents(), name, n.now()); err != nil {
		return asError(err)
	}
	n.setAgents(func(all []configs.Agent) []configs.Agent {
		return slices.DeleteFunc(all, func(a configs.Agent) bool { return a.Name == name })
	})
	err := n.publishHost(ctx)
	n.announce()
	return asError(err)
}

func (n *Node) setAgents(change func([]configs.Agent) []configs.Agent) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.agents = change(slices.Clone(n.agents))
	slices.SortFunc(n.agents, func(a, b configs.Agent) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
}

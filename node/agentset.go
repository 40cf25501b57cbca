package node

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// SetAgent answers control.SetAgent. What waits for the agent is handled as it is
// served from now on; a command that runs ends as it began.
func (n *Node) SetAgent(ctx context.Context, r control.SetAgentRequest) (control.Agent, error) {
	n.roster.serving.Lock()
	defer n.roster.serving.Unlock()
	was, err := n.roster.get(r.Name)
	if err != nil {
		return control.Agent{}, err
	}
	a, err := changedAgent(was, r)
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
		n.closeDoor(a.Name)
	}
	n.roster.put(a)
	n.reopen(a)
	err = n.own.publish(ctx)
	n.presence.announce()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.agentView(a), asError(err)
}

// reopen has the agent's door serve it as it is now.
func (n *Node) reopen(a configs.Agent) {
	n.mu.Lock()
	w := n.workers[a.Name]
	if w != nil {
		w.agent = a
		w.nudge()
	}
	n.mu.Unlock()
	if w == nil {
		n.openDoor(a, n.taking, n.killing)
	}
}

// replaced are the agents with one of them as it is now.
func replaced(all []configs.Agent, a configs.Agent) []configs.Agent {
	i := slices.IndexFunc(all, func(b configs.Agent) bool { return b.Name == a.Name })
	all[i] = a
	return all
}

// changedAgent is an agent after what a request changes of it. It may stand in the way
// of nothing but itself: what else the node knows is looked at by the caller.
func changedAgent(a configs.Agent, r control.SetAgentRequest) (configs.Agent, error) {
	usage := func(hint, format string, args ...any) (configs.Agent, error) {
		return configs.Agent{}, control.Errorf(control.KindUsage, hint, "cannot change the agent "+a.Name.String()+": "+format, args...)
	}
	take(&a.Open, r.Open)
	take(&a.Input, r.Input)
	take(&a.Dir, r.Dir)
	take(&a.Timeout, r.Timeout)
	take(&a.RunReplies, r.Answers)
	if r.Profile != nil {
		a.Profile = protocol.Name(*r.Profile)
	}
	switch {
	case r.Inbox && (r.Exec != nil || len(r.Tiers) > 0), r.Exec != nil && len(r.Tiers) > 0:
		return usage("", "it is given one of a command, tiers and the inbox")
	case r.Inbox:
		a.Door, a.Tiers, a.Input, a.Timeout, a.Paused = configs.DoorInbox, nil, "", 0, false
	case len(r.Tiers) > 0:
		a.Door, a.Tiers = configs.DoorExec, nil
		for _, t := range r.Tiers {
			a.Tiers = append(a.Tiers, configs.Tier{Name: t.Name, Count: t.Count, Exec: t.Exec})
		}
	case r.Exec != nil && len(a.Tiers) > 1:
		return usage("name them all: parley agent set "+a.Name.String()+" --tier 'NAME*COUNT=CMD' --tier …", "it has %d tiers, each with a command", len(a.Tiers))
	case r.Exec != nil && len(a.Tiers) == 1:
		a.Tiers = []configs.Tier{{Name: a.Tiers[0].Name, Count: a.Tiers[0].Count, Exec: *r.Exec}}
	case r.Exec != nil:
		a.Door, a.Tiers = configs.DoorExec, []configs.Tier{{Name: defaultTier, Count: 1, Exec: *r.Exec}}
	}
	if err := checkAgent(a); err != nil {
		return usage("", "%v", err)
	}
	return a, nil
}

// take puts what was given in the place of what was there.
func take[T any](at *T, given *T) {
	if given != nil {
		*at = *given
	}
}

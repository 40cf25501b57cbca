package node

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// attendance is what the agents of this host are doing. It is told to the other hosts, and kept
// nowhere.
type attendance struct {
	roster   *agents.Roster
	actors   *actors
	sessions *sessions.Book
	tell     func()                     // has the other hosts told soon
	busy     func(protocol.Name)        // the agent begins to work
	done     func(configs.Agent) string // a digest of what has come in the meantime
	// there says in the agent's parties that it has come, or is away.
	there func(ctx context.Context, by control.Caller, agent protocol.Name, away bool) error
}

// view adds to an agent, as it is shown, what it is doing.
func (at *attendance) view(v *control.Agent) {
	v.Asked = at.roster.Asked(v.Name).UTC()
	v.Presence, v.Since = at.sessions.At(v.Name, v.Asked)
	v.Since = v.Since.UTC()
	if v.Door != configs.DoorExec {
		return
	}
	v.Since = time.Time{}
	if v.Presence != control.AgentRunning {
		v.Presence = control.AgentIdle // the agent's node is there
	}
}

// states are what the agents are doing, for other hosts, one word for each. An agent that is run by
// its node is idle if it has no word.
func (at *attendance) states() map[string]string {
	states := map[string]string{}
	for _, a := range at.roster.All() {
		if state := at.state(a); state != "" {
			states[a.Name.String()] = string(state)
		}
	}
	return states
}

// stateOf is what one agent of this host is doing; "" if that is not known.
func (at *attendance) stateOf(agent string) control.AgentState {
	a, err := at.roster.Get(agent)
	if err != nil {
		return ""
	}
	return at.state(a)
}

// state is what an agent is doing; "" for an agent that its node runs and that is idle.
func (at *attendance) state(a configs.Agent) control.AgentState {
	v := control.Agent{Name: a.Name, Door: a.Door}
	at.view(&v)
	if a.Door == configs.DoorInbox || v.Presence != control.AgentIdle {
		return v.Presence
	}
	return ""
}

// say answers control.SetPresence.
func (at *attendance) say(ctx context.Context, by control.Caller, r control.PresenceRequest) (p control.AgentPresence, err error) {
	if !slices.Contains(control.AgentStates(), r.State) {
		return p, control.Errorf(control.KindUsage, "", "cannot say what an agent is at: %q is none of running, idle, waiting and away", r.State)
	}
	if err := sessions.CheckName(r.Session); err != nil {
		return p, control.Errorf(control.KindUsage, "", "cannot say what an agent is at: %v", err)
	}
	who, err := at.actors.actor(by, r.As)
	if err != nil {
		return p, err
	}
	a, err := at.roster.Get(who.Name)
	switch {
	case err != nil:
		return p, control.Errorf(control.KindUsage, "name the agent with --as, or bear its token: parley agent token NAME",
			"cannot say what %s is at: only agents say that of themselves", who.Name)
	case a.Door != configs.DoorInbox:
		return p, control.Errorf(control.KindRefused, "", "cannot say what %s is at: this node runs its command, and sees that itself", who.Name)
	}
	v := control.Agent{Name: a.Name, Door: a.Door}
	at.view(&v)
	worked := works(v.Presence)
	at.sessions.Say(a.Name, sessions.Of(r.Session, by.Process), r.State)
	at.tell()
	at.view(&v)
	p = control.AgentPresence{Agent: a.Name, State: v.Presence, Since: v.Since}
	if err := at.there(ctx, by, a.Name, v.Presence == control.AgentAway); err != nil {
		return p, err
	}
	switch {
	case !worked && works(v.Presence):
		at.busy(a.Name)
	case worked && v.Presence == control.AgentIdle:
		p.Digest = at.done(a)
	}
	return p, nil
}

// works reports whether an agent is doing something that mail must not interrupt.
func works(state control.AgentState) bool {
	return state == control.AgentRunning || state == control.AgentWaiting
}

package serving

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/sessions"
)

// Attendance is what the agents of this host are doing. It is told to the other hosts, and kept
// nowhere.
type Attendance struct {
	Roster   *agents.Roster // the agents that are served here
	Sessions *sessions.Book // the sessions of agents that ask for their mail
}

func (at Attendance) view(v *control.Agent) {
	v.Asked = at.Roster.Asked(v.Name).UTC()
	v.Presence, v.Since = at.Sessions.At(v.Name, v.Asked)
	v.Since = v.Since.UTC()
	if v.Door != configs.DoorExec {
		return
	}
	v.Since = time.Time{}
	if v.Presence != control.AgentRunning {
		v.Presence = control.AgentIdle // the agent's node is there
	}
}

// States are what the agents are doing, for other hosts, one word for each. An agent that is run by
// its node is idle if it has no word.
func (at Attendance) States() map[string]string {
	states := map[string]string{}
	for _, a := range at.Roster.All() {
		if state := at.state(a); state != "" {
			states[a.Name.String()] = string(state)
		}
	}
	return states
}

// StateOf is what one agent of this host is doing; "" if that is not known.
func (at Attendance) StateOf(agent string) control.AgentState {
	a, err := at.Roster.Get(agent)
	if err != nil {
		return ""
	}
	return at.state(a)
}

// state is what an agent is doing; "" for an agent that its node runs and that is idle.
func (at Attendance) state(a configs.Agent) control.AgentState {
	v := control.Agent{Name: a.Name, Door: a.Door}
	at.view(&v)
	if a.Door == configs.DoorInbox || v.Presence != control.AgentIdle {
		return v.Presence
	}
	return ""
}

// say answers control.SetPresence.
func (sv *Serving) say(ctx context.Context, by control.Caller, r control.PresenceRequest) (p control.AgentPresence, err error) {
	if !slices.Contains(control.AgentStates(), r.State) {
		return p, control.Errorf(control.KindUsage, "", "cannot say what an agent is at: %q is none of running, idle, waiting and away", r.State)
	}
	if err := sessions.CheckName(r.Session); err != nil {
		return p, control.Errorf(control.KindUsage, "", "cannot say what an agent is at: %v", err)
	}
	who, err := sv.Actor(by, r.As)
	if err != nil {
		return p, err
	}
	a, err := sv.Roster.Get(who.Name)
	switch {
	case err != nil:
		return p, control.Errorf(control.KindUsage, "name the agent with --as, or bear its token: parley agent token NAME",
			"cannot say what %s is at: only agents say that of themselves", who.Name)
	case a.Door != configs.DoorInbox:
		return p, control.Errorf(control.KindRefused, "", "cannot say what %s is at: this node runs its command, and sees that itself", who.Name)
	}
	v := control.Agent{Name: a.Name, Door: a.Door}
	sv.Attendance.view(&v)
	worked := works(v.Presence)
	sv.Sessions.Say(a.Name, sessions.Of(r.Session, by.Process), r.State)
	sv.AnnounceSoon()
	sv.Attendance.view(&v)
	p = control.AgentPresence{Agent: a.Name, State: v.Presence, Since: v.Since}
	if err := sv.There(ctx, by, a.Name, v.Presence == control.AgentAway); err != nil {
		return p, err
	}
	switch {
	case !worked && works(v.Presence):
		sv.attention.busy(a.Name)
	case worked && v.Presence == control.AgentIdle:
		p.Digest = sv.attention.done(a)
	}
	return p, nil
}

// works reports whether an agent is doing something that mail must not interrupt.
func works(state control.AgentState) bool {
	return state == control.AgentRunning || state == control.AgentWaiting
}

package node

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// actors are those who can act on this host: its human and its agents. It finds out which of them
// makes a request, and what the request shows about them.
type actors struct {
	host, human protocol.Name
	now         func() time.Time
	roster      *agents.Roster
	callers     *caller.Book
}

// actor is the one who acts (R14): the one that the request names, if the door has allowed that to
// the caller. If it names none, it is the agent that calls, else the human.
func (a *actors) actor(by control.Caller, as string) (fleet.Who, error) {
	if as == "" {
		as = a.speaker(by).String()
	}
	if as == a.human.String() || a.roster.Serves(as) {
		return fleet.Who{Name: as, Host: a.host}, nil
	}
	return fleet.Who{}, control.Errorf(control.KindRefused, "who can act here is listed by: parley agent list",
		"%q is neither an agent served here nor the human of this host", as)
}

// reader is the one who asks for mail (R14).
func (a *actors) reader(by control.Caller, as string) (fleet.Who, error) {
	who, err := a.actor(by, as)
	if err == nil {
		a.roster.Asks(who.Name, a.now())
	}
	return who, err
}

// speaker is the one who acts if a request names nobody.
func (a *actors) speaker(by control.Caller) protocol.Name {
	if by.Kind != control.Operator {
		return by.Name
	}
	return a.human
}

// called is a command together with what is known of the one who gave it.
func called(by control.Caller, c fleet.Command) fleet.Command {
	return fleet.Called{Command: c, Because: by.Because, Unattended: by.Kind == control.Unattended}
}

// gave notes that an agent was given a message because it asked for it. A run knows its message by
// itself.
func (a *actors) gave(by control.Caller, p protocol.Path) {
	if by.Kind == control.ByAgent && by.Run == "" && by.Name != "" {
		a.callers.Gave(by.Name, p)
	}
}

// Token answers control.MakeToken.
func (a *actors) Token(_ context.Context, r control.AgentRequest) (control.AgentToken, error) {
	served, err := a.roster.Get(r.Name)
	if err != nil {
		return control.AgentToken{}, err
	}
	return control.AgentToken{Agent: served.Name, Token: a.callers.Standing(served.Name)}, nil
}

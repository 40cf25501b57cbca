package agents

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Actors are those who can act on this host: its human and its agents. It finds out which of them
// makes a request, and what the request shows about them.
type Actors struct {
	Host, Human protocol.Name
	Now         func() time.Time
	Roster      *Roster
	Callers     *caller.Book
}

// Actor is the one who acts (R14): the one that the request names, if the door has allowed that to
// the caller. If it names none, it is the agent that calls, else the human.
func (a *Actors) Actor(by control.Caller, as string) (fleet.Who, error) {
	if as == "" {
		as = a.Speaker(by).String()
	}
	if as == a.Human.String() || a.Roster.Serves(as) {
		return fleet.Who{Name: as, Host: a.Host}, nil
	}
	return fleet.Who{}, control.Errorf(control.KindRefused, "who can act here is listed by: parley agent list",
		"%q is neither an agent served here nor the human of this host", as)
}

// Reader is the one who asks for mail (R14).
func (a *Actors) Reader(by control.Caller, as string) (fleet.Who, error) {
	who, err := a.Actor(by, as)
	if err == nil {
		a.Roster.Asks(who.Name, a.Now())
	}
	return who, err
}

// Speaker is the one who acts if a request names nobody.
func (a *Actors) Speaker(by control.Caller) protocol.Name {
	if by.Kind != control.Operator {
		return by.Name
	}
	return a.Human
}

// Gave notes that an agent was given a message because it asked for it. A run knows its message by
// itself.
func (a *Actors) Gave(by control.Caller, p protocol.Path) {
	if by.Kind == control.ByAgent && by.Run == "" && by.Name != "" {
		a.Callers.Gave(by.Name, p)
	}
}

// Token answers control.MakeToken.
func (a *Actors) Token(_ context.Context, r control.AgentRequest) (control.AgentToken, error) {
	served, err := a.Roster.Get(r.Name)
	if err != nil {
		return control.AgentToken{}, err
	}
	return control.AgentToken{Agent: served.Name, Token: a.Callers.Standing(served.Name)}, nil
}

package node

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// openCallers reads the key of tokens, or makes it, and begins to know who calls.
func (n *Node) openCallers() error {
	key, err := homes.TokenKey(n.home)
	if err != nil {
		return err
	}
	n.callers = caller.New(caller.Options{Key: key, Human: n.cfg.Human, Serves: n.roster.Since, Now: n.now})
	return nil
}

// logRefused logs what a caller may not do. An agent that tries again and again does not
// fill the disk with it.
func (n *Node) logRefused() func(verb string, c control.Caller, why error) {
	const burst = 20
	log := n.log.Sample(&zerolog.BurstSampler{Burst: burst, Period: time.Minute})
	return func(verb string, c control.Caller, why error) {
		log.Warn().Str("verb", verb).Stringer("caller", c.Kind).Stringer("name", c.Name).Str("run", c.Run).Str("known_by", c.How).Msg(why.Error())
	}
}

// actor is who acts (R14): the one named, which the door has allowed the caller; else
// the agent that calls; else the human.
func (n *Node) actor(by control.Caller, as string) (fleet.Who, error) {
	if as == "" {
		as = n.speaker(by).String()
	}
	if as == n.cfg.Human.String() || n.roster.Serves(as) {
		return n.me(as), nil
	}
	return fleet.Who{}, control.Errorf(control.KindRefused, "who can act here is listed by: parley agent list",
		"%q is neither an agent served here nor the human of this host", as)
}

// reader is who asks for mail (R14).
func (n *Node) reader(by control.Caller, as string) (fleet.Who, error) {
	who, err := n.actor(by, as)
	if err == nil {
		n.roster.Asks(who.Name, n.now())
	}
	return who, err
}

// speaker is who acts where a request does not say it.
func (n *Node) speaker(by control.Caller) protocol.Name {
	if by.Kind != control.Operator {
		return by.Name
	}
	return n.cfg.Human
}

// called is a command with what is known of who gave it.
func called(by control.Caller, c fleet.Command) fleet.Command {
	return fleet.Called{Command: c, Because: by.Because, Unattended: by.Kind == control.Unattended}
}

// gave notes that an agent was given a message by what it asked for itself. Its runs
// know theirs.
func (n *Node) gave(by control.Caller, p protocol.Path) {
	if by.Kind == control.ByAgent && by.Run == "" && by.Name != "" {
		n.callers.Gave(by.Name, p)
	}
}

// AgentToken answers control.MakeToken.
func (n *Node) AgentToken(_ context.Context, r control.AgentRequest) (control.AgentToken, error) {
	a, err := n.roster.Get(r.Name)
	if err != nil {
		return control.AgentToken{}, err
	}
	return control.AgentToken{Agent: a.Name, Token: n.callers.Standing(a.Name)}, nil
}

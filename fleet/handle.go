package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Handling is what an exec door does with a message that reaches its agent.
type Handling int

// The ways to handle a message.
const (
	Ignore  Handling = iota // the message is not for this agent, done already, or cannot be answered
	Receipt                 // show the message and leave a receipt, run nothing
	Run                     // run the agent's command
	Halt                    // the conversation has run too long: stop it and tell both sides
	Leave                   // leave the message in the inbox: the agent takes no mail whose author nobody vouches for
)

// Limits are what a host's operator allows its agents.
type Limits struct {
	Reads       bool // the agent reads its mail itself, and acts on all of it
	MaxHops     int  // how many answers of agents to agents in a row are allowed
	RunsReplies bool // whether an answer to the agent's own message is run
	Verified    bool // the command is run only for a message that is vouched for
	Examined    bool // sync-checks are answered without the agent (R66)
	// WakesOn are the acts for which the agent's command is run. If it is empty, each act says so
	// itself (R63).
	WakesOn []protocol.Act
}

// Wakes reports whether the agent's command is run for messages of the act.
func (l Limits) Wakes(act protocol.Act) bool {
	if len(l.WakesOn) > 0 {
		return slices.Contains(l.WakesOn, act)
	}
	return act.Wakes()
}

// Handle says what the exec door of an agent does with a message (R4, R13, R63).
func (t *Talk) Handle(it *Item, who Who, limits Limits) Handling {
	if !t.Reaches(it, who) || t.ReadBy(it, who) {
		return Ignore
	}
	return t.handling(it, who, limits)
}

// handling is Handle for a message that is the agent's to act on.
func (t *Talk) handling(it *Item, who Who, limits Limits) Handling {
	switch {
	case it.Type != protocol.TypeText || t.ring().Signature(&it.File) == protocol.SignatureRefused || it.by(who):
		return Ignore
	case limits.Reads && it.Act.Mail():
		return Run
	case !t.Answerable(it), limits.Examined && it.Act == protocol.ActSyncCheck:
		return Ignore
	case limits.Verified && !t.Vouched(it):
		return Leave
	case !it.Act.Mail() || !limits.Wakes(it.Act):
		return Receipt
	case t.answersOwn(it, who) && !limits.RunsReplies:
		return Receipt
	case t.Hops(it) > limits.MaxHops:
		return Halt
	}
	return Run
}

// Vouched reports whether a host vouches for the author of a message: it has signed the message,
// declares the author, and knew which program wrote in that name (R37).
func (t *Talk) Vouched(it *Item) bool {
	return t.ring().Signature(&it.File) == protocol.SignatureValid && !it.Unattended
}

// Rings reports whether the message may begin a turn of a session, if its author is proved: it asks
// one addressee for work (R70).
func (it *Item) Rings() bool {
	return it.Act.Mail() && it.Act.Wakes() && it.Act != protocol.ActTell && it.Act != protocol.ActBroadcast && len(it.To) == 1 && !it.ToAll()
}

// answersOwn reports whether the message answers one of the participant's own.
func (t *Talk) answersOwn(it *Item, who Who) bool {
	asked := t.answered(it)
	return asked != nil && asked.by(who)
}

// Misaddressed reports whether the message is addressed to an agent of this host that the host does
// not serve, which is worth one warning (Crosstalk, "Tier validation"). `agent` is that agent.
func (t *Talk) Misaddressed(it *Item, host protocol.Name) (agent string, yes bool) {
	h, joined := t.ring().Host(host)
	if !joined || it.Type != protocol.TypeText {
		return "", false
	}
	for _, a := range it.To {
		if a.Host != host.String() || h.Declared(a.Name) != nil {
			continue
		}
		return a.Name, true
	}
	return "", false
}

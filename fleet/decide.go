package fleet

import (
	"time"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Command is what a participant or a host wants to do: one of the types of this
// package that Decide takes.
type Command interface {
	decide(s *State, now time.Time) ([]Draft, error)
}

// Decide turns a command into the messages that carry it out, all or none, or into a *Refusal. It
// does not change the state: a message counts only after it was written and applied.
func (s *State) Decide(c Command, now time.Time) ([]Draft, error) {
	drafts, err := c.decide(s, now)
	for i := range drafts {
		drafts[i].Message.Timestamp = now
	}
	return drafts, err
}

// Draft is a message before its writer gives it a path, a place in its host's chain and a
// signature.
type Draft struct {
	Message protocol.Message
	Channel protocol.ChannelID
	Groups  []Group // for each addressed agent, the instances of which one is chosen
}

// Group is the instances of one addressed agent in their order.
type Group struct {
	Agent     string
	Instances []protocol.Instance
}

// Choose picks the instances that act on the message at `p` (R6, R7).
func (d *Draft) Choose(p protocol.Path) []protocol.Choice {
	var choices []protocol.Choice
	for _, g := range d.Groups {
		c := protocol.Choice{Agent: g.Agent, Instance: g.Instances[protocol.Select(p.Rel(), len(g.Instances))]}
		if len(d.Message.To) == 1 && d.Message.To[0].Name == g.Agent {
			c.Agent = ""
		}
		choices = append(choices, c)
	}
	return choices
}

// Refusal says that a command is not carried out, why, and what to try.
type Refusal = refusal.Refusal

// RefusalKind is what is wrong with a refused command.
type RefusalKind = refusal.Kind

// The kinds of refusal.
const (
	Forbidden = refusal.Forbidden // a rule forbids it
	Unknown   = refusal.Unknown   // it names what does not exist
	Senseless = refusal.Senseless // it makes no sense as it stands
)

func refuse(kind RefusalKind, hint, format string, args ...any) *Refusal {
	return refusal.New(kind, hint, format, args...)
}

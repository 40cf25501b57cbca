package affair

import (
	"errors"
	"time"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Draft is a deed that somebody wants to do. Its message says From, To, Type, Act and Body, and Re
// if it refers to another message. Its writer adds the time and all other fields.
type Draft struct {
	Message protocol.Message
	Channel protocol.ChannelID
}

// Command is what somebody wants to do in an affair.
type Command struct {
	ID     ID
	kind   Any
	decide func(value any, now time.Time) ([]Draft, error)
}

// Command makes a command of the affair that is called `name`. `decide` is given the value of that
// affair and the time. It returns the deeds, all or none, or a *refusal.Refusal.
func (k *Kind[V]) Command(name string, decide func(V, time.Time) ([]Draft, error)) Command {
	return Command{ID{k.Name, name}, k, func(value any, now time.Time) ([]Draft, error) { return decide(value.(V), now) }}
}

// Kind is the kind of its affair.
func (c Command) Kind() Any { return c.kind }

// Decide returns the deeds of the command if its affair has that value.
func (c Command) Decide(value any, now time.Time) ([]Draft, error) { return c.decide(value, now) }

// Actor is the one who does something in an affair in which humans decide.
type Actor struct {
	Record string // the record's id
	Me     string // an agent, or a human who decides
	Host   protocol.Name
	Human  string    // the human who had it done; empty if an agent did it alone
	Key    string    // that human's key now; empty if they have none
	Hsig   string    // the human's signature of what the command decides; empty if they have no key
	At     time.Time // when that was signed, if the signature says so; zero: now
}

// Does is the draft of a deed that the actor does in a channel now. The message says To, Act, Re and
// Body; without addressees it is to the actor. The deed is tried on the value first, and what would
// be void is refused.
func (k *Kind[V]) Does(a Actor, v V, m protocol.Message, channel protocol.ChannelID, now time.Time) ([]Draft, error) {
	m.From, m.Type, m.Human, m.Hsig, m.Host = a.Me, protocol.TypeText, a.Human, a.Hsig, a.Host
	m.Body, m.Timestamp, m.Path = protocol.NormalBody(m.Body), now, protocol.NewPath(channel, now, 0)
	if len(m.To) == 0 {
		m.To = []protocol.Address{{Name: a.Me, Host: a.Host.String()}}
	}
	tried := Deed{
		Message: &m, Position: Position{Place: now, Path: m.Path}, Human: a.Human != "" && a.Me == a.Human,
		Hand: Hand{RecordID: a.Record, Key: a.Key, Had: a.Key != "", Here: a.Human != ""},
	}
	if _, err := k.Step(v, tried); err != nil {
		return nil, Refused(err)
	}
	m.Host, m.Timestamp, m.Path = "", time.Time{}, protocol.Path{} // whoever writes the deed fills these in
	return []Draft{{Message: m, Channel: channel}}, nil
}

// Refused makes a refusal of the reason why a deed is void.
func Refused(err error) error {
	var r *refusal.Refusal
	if errors.As(err, &r) {
		return err
	}
	return refusal.New(refusal.Forbidden, "", "%s", err)
}

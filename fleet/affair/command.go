package affair

import (
	"time"

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

// Together makes one command of several commands of one affair: all of them are carried out or
// none. Each is decided as if it were alone.
func Together(commands []Command) Command {
	c := commands[0]
	c.decide = func(value any, now time.Time) (all []Draft, err error) {
		for _, one := range commands {
			drafts, err := one.decide(value, now)
			if err != nil {
				return nil, err
			}
			all = append(all, drafts...)
		}
		return all, nil
	}
	return c
}

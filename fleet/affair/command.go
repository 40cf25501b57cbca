package affair

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Draft is a deed that somebody wants to do. Its message says From, To, Type, Act, Body and, where
// it refers to another one, Re. The time and all else come from whoever writes it.
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

// Command is one that decide turns into deeds, all or none, or a *refusal.Refusal: it is given
// the value of the affair with that name at that time.
func (k *Kind[V]) Command(name string, decide func(V, time.Time) ([]Draft, error)) Command {
	return Command{ID{k.Name, name}, k, func(value any, now time.Time) ([]Draft, error) { return decide(value.(V), now) }}
}

// Kind is the kind of its affair.
func (c Command) Kind() Any { return c.kind }

// Decide is what becomes of it where its affair has that value.
func (c Command) Decide(value any, now time.Time) ([]Draft, error) { return c.decide(value, now) }

// Together is several commands of one affair as one: all of them or none, each decided as if it
// were alone.
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

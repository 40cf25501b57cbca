package runs

import (
	"cmp"
	"errors"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Retry has an agent try a message again on which it failed, or which a host has claimed and does
// not answer.
func Retry(by string, p protocol.Path, agent, reason string) affair.Command {
	return Kind().Command(Name(p, agent), func(r Run, _ time.Time) ([]affair.Draft, error) {
		if r.Dead == nil && r.Claim != nil {
			return r.word(by, protocol.RunRetry, r.Claim.Host, reason)
		}
		return r.say(by, protocol.RunRetry, reason)
	})
}

// GiveUp makes a dead letter of a message for an agent that no host serves, and tells its author. If
// it is one already, it writes nothing.
func GiveUp(p protocol.Path, agent string, author protocol.Address, problem string) affair.Command {
	return Kind().Command(Name(p, agent), func(r Run, _ time.Time) ([]affair.Draft, error) {
		if r.Dead != nil {
			return nil, nil
		}
		return []affair.Draft{{Channel: p.Channel(), Message: protocol.Message{
			From: agent, To: []protocol.Address{author}, Type: protocol.TypeText, Act: protocol.ActFailed,
			Re: protocol.Refer(p.Channel(), p), Body: protocol.Failed.Format(protocol.Failure{Problem: problem}),
		}}}, nil
	})
}

// Drop puts a dead letter away. It stays in the record, and can be tried again.
func Drop(by string, p protocol.Path, agent, reason string) affair.Command {
	return Kind().Command(Name(p, agent), func(r Run, _ time.Time) ([]affair.Draft, error) {
		if r.Dropped != nil {
			return nil, refusal.New(refusal.Forbidden, "", "%s has put %s away for %s already", r.Dropped.By, r.Message.Short(), r.Agent)
		}
		return r.say(by, protocol.RunDrop, reason)
	})
}

// say makes a word about a dead letter, to the host where it was tried.
func (r Run) say(by string, act protocol.WordAct[protocol.RunWord], reason string) ([]affair.Draft, error) {
	if r.Dead == nil {
		return nil, refusal.New(refusal.Unknown, "parley agent dlq list shows those that are", "%s is no dead letter of %s", r.Message.Short(), r.Agent)
	}
	return r.word(by, act, r.Dead.Host, reason)
}

// word makes a word about the run, to the host or, if the host is not known, to the agent.
func (r Run) word(by string, act protocol.WordAct[protocol.RunWord], host protocol.Name, reason string) ([]affair.Draft, error) {
	to := protocol.Address{Name: cmp.Or(host.String(), r.Agent)}
	c := r.Message.Channel()
	return []affair.Draft{{Channel: c, Message: protocol.Message{
		From: by, To: []protocol.Address{to}, Type: protocol.TypeText, Act: act.Act,
		Body: act.Format(protocol.RunWord{Of: r.Message, Agent: r.Agent, Reason: reason}),
	}}}, nil
}

// said is what a deed says about a dead letter, or about what a host has claimed. A word that
// starts a command again must be signed. Otherwise a push of files could make an agent work anew on
// everything on which it failed.
func (r Run) said(d affair.Deed) (*Decision, error) {
	w, err := protocol.RunRetry.Parse(d.Body) // both acts have the same form
	switch {
	case err != nil:
		return nil, err
	case r.Dead == nil && (r.Claim == nil || d.Act != protocol.ActRunRetry):
		return nil, errors.New("it is about no dead letter")
	case d.Standing != affair.Signed:
		return nil, errors.New("only who is declared by a host with a key can say this")
	}
	return &Decision{Position: d.Position, Time: d.Timestamp, By: d.Author().Name, Reason: w.Reason}, nil
}

func (r Run) retry(d affair.Deed) (Run, error) {
	w, err := r.said(d)
	if err != nil {
		return r, err
	}
	r.Again, r.Dead, r.Dropped, r.Claim = w, nil, nil, nil
	r.Retries++
	return r, nil
}

func (r Run) drop(d affair.Deed) (Run, error) {
	w, err := r.said(d)
	if err != nil {
		return r, err
	}
	r.Dropped = w
	return r, nil
}

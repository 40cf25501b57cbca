package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Hold tells the author of a message and the humans of both hosts that the message waits, and others
// with it, because agents have caused too many runs (R13). The message gets no receipt: it is run as soon as
// the limit allows.
type Hold struct {
	As     Who // the agent for which it waits
	At     protocol.Path
	Human  protocol.Name // of the agent's host
	Act    protocol.WordAct[protocol.RunWord]
	Reason string
}

func (c Hold) decide(s *State, _ time.Time) ([]Draft, error) {
	held, err := s.answerable(c.At)
	if err != nil {
		return nil, err
	}
	d := Draft{
		Message: protocol.Message{
			From: c.As.Host.String(), To: s.concerned(held, c.As, c.Human), Type: protocol.TypeText, Act: c.Act.Act,
			Body: c.Act.Format(protocol.RunWord{Of: c.At, Agent: c.As.Name, Reason: c.Reason}),
		},
		Channel: c.At.Channel(),
	}
	d.because(s, held)
	return []Draft{d}, nil
}

// concerned are those who have to know that a participant's work on a message does not go on: the
// author of the message, the human here and the humans of the author's host.
func (s *State) concerned(it *Item, at Who, human protocol.Name) []protocol.Address {
	to := []protocol.Address{s.Talk.AuthorOf(it, at.Host)}
	add := func(name, host protocol.Name) {
		if !addressedBefore(to, name.String()) {
			to = append(to, protocol.Address{Name: name.String(), Host: host.String()})
		}
	}
	add(human, at.Host)
	if h, joined := s.Keys().Host(it.Host); joined && s.Signature(it) == protocol.SignatureValid {
		for _, theirs := range h.Humans {
			add(theirs, h.Alias)
		}
	}
	return to
}

// Resume has a human speak in a conversation of agents that waits for one. It gives nobody a text
// to answer (R13). The runs in the conversation until then count no more.
type Resume struct {
	By     Who // a human
	At     protocol.Path
	Agent  string // the agent for which the conversation waits no longer
	Reason string
}

func (c Resume) decide(s *State, _ time.Time) ([]Draft, error) {
	it := s.Ledger.at(c.At)
	if it == nil || it.Type != protocol.TypeText {
		return nil, refuse(Unknown, "name a message of the conversation, as parley log and parley inbox show them", "there is no message %s", c.At)
	}
	d := Draft{
		Message: protocol.Message{
			From: c.By.Name, To: []protocol.Address{{Name: c.Agent, Host: c.By.Host.String()}}, Type: protocol.TypeText, Act: protocol.ActResume,
			Because: protocol.Refer(it.Path.Channel(), it.Path),
			Body:    protocol.Resume.Format(protocol.RunWord{Of: it.Path, Agent: c.Agent, Reason: c.Reason}),
		},
		Channel: it.Path.Channel(),
	}
	return []Draft{d}, nil
}

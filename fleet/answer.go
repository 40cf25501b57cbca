package fleet

import (
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Answer replies to a message. If the message reached the participant who answers, it also leaves a
// receipt. Both are written, or neither.
type Answer struct {
	As      Who
	To      protocol.Path
	Body    string
	Act     protocol.Act // empty: a reply
	ByAgent bool         // an agent answers, so the hops grow (R13)
}

func (c Answer) decide(s *State, _ time.Time) ([]Draft, error) {
	asked, err := s.answerable(c.To)
	if err != nil {
		return nil, err
	}
	body := protocol.NormalBody(c.Body)
	if strings.TrimSpace(body) == "" {
		return nil, refuse(Senseless, "write the text after the path, or - to read it from standard input", "the answer is empty")
	}
	to := s.Talk.AuthorOf(asked, c.As.Host)
	d := Draft{
		Message: protocol.Message{From: c.As.Name, To: []protocol.Address{to}, Type: protocol.TypeText, Act: c.Act, Body: body},
		Channel: asked.Path.Channel(),
		Groups:  s.groups(c.As, to),
	}
	d.Message.Re = protocol.Refer(d.Channel, asked.Path)
	if d.Message.Act == "" {
		d.Message.Act = protocol.ActReply
		if act, ok := protocol.ActOfAnswer(asked.Act, body); ok { // in the form that the message asks for (R65)
			d.Message.Act = act
		}
	}
	if c.ByAgent {
		d.because(s, asked)
	}
	return append([]Draft{d}, s.receiptFor(asked, c.As)...), nil
}

// answerable is the message at `p`. The error says why it cannot be answered.
func (s *State) answerable(p protocol.Path) (*Item, error) {
	it := s.Ledger.at(p)
	switch {
	case it == nil:
		return nil, refuse(Unknown, "", "there is no message %s", p)
	case it.Type != protocol.TypeText:
		return nil, refuse(Forbidden, "", "%s is a receipt: nobody waits for an answer to it", p)
	case s.Signature(it) == protocol.SignatureRefused:
		return nil, refuse(Forbidden, "", "%s bears a wrong signature: it is not answered", p)
	case !s.Talk.Answerable(it):
		return nil, unanswerable(it)
	}
	return it, nil
}

// Stop ends a conversation of agents that has run too long (R13). The host tells both sides and
// their humans once, and the message that went too far gets its receipt.
type Stop struct {
	As    Who
	At    protocol.Path
	Human protocol.Name // of the agent's host
	Body  string
}

func (c Stop) decide(s *State, _ time.Time) ([]Draft, error) {
	asked, err := s.answerable(c.At)
	if err != nil {
		return nil, err
	}
	d := Draft{
		Message: protocol.Message{
			From: c.As.Host.String(),
			To:   append(s.concerned(asked, c.As, c.Human), protocol.Address{Name: c.As.Name, Host: c.As.Host.String()}),
			Type: protocol.TypeText,
			Act:  protocol.ActFailed,
			Re:   protocol.Refer(asked.Path.Channel(), asked.Path),
			Body: c.Body,
		},
		Channel: asked.Path.Channel(),
	}
	d.because(s, asked)
	return append([]Draft{d}, s.receiptFor(asked, c.As)...), nil
}

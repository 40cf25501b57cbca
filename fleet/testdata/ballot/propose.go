package ballot

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Proposal puts a question to the vote.
type Proposal struct {
	Question string
	For      time.Duration // for how long votes are taken
}

// Propose is the act of a Proposal.
var Propose = protocol.NewAct(protocol.ActSpec{
	Act: "ballot-propose", Heading: "BALLOT", Class: protocol.ClassDeed, Doc: "Puts a question to the vote.",
}, parseProposal, Proposal.format, Proposal{Question: "Shall we?", For: time.Minute})

func (p Proposal) format() string {
	return fmt.Sprintf("BALLOT | for: %s\nquestion: %s", p.For, p.Question)
}

func parseProposal(body string) (p Proposal, err error) {
	first, rest, _ := strings.Cut(body, "\n")
	_, length, _ := strings.Cut(first, " | for: ")
	if p.For, err = time.ParseDuration(length); err != nil {
		return p, err
	}
	for line := range strings.Lines(rest) {
		if question, ok := strings.CutPrefix(strings.TrimSpace(line), "question: "); ok {
			p.Question = question
		}
	}
	if p.Question == "" {
		return p, errors.New("it asks nothing")
	}
	return p, nil
}

// Open puts a question to the vote in a channel.
func Open(by string, c protocol.ChannelID, p Proposal) affair.Command {
	return Kind().Command(c.String(), func(b Ballot, now time.Time) ([]affair.Draft, error) {
		if !b.Opened.IsZero() && !b.Closed {
			return nil, refusal.New(refusal.Forbidden, "wait for its end", "%q is put to the vote there", b.Question)
		}
		return []affair.Draft{{Channel: c, Message: protocol.Message{
			From: by, To: []protocol.Address{{Name: protocol.All}}, Type: protocol.TypeText, Act: Propose.Act, Body: Propose.Format(p),
		}}}, nil
	})
}

func (b Ballot) propose(d affair.Deed) (Ballot, error) {
	p, err := Propose.Parse(d.Body)
	if err != nil {
		return b, err
	}
	if !b.Opened.IsZero() && !d.Timestamp.After(b.Until) {
		return b, errors.New("another question is put to the vote")
	}
	return Ballot{Opened: d.Message.Path, By: d.Author().Name, Question: p.Question, Until: d.Timestamp.Add(p.For), Votes: map[string]string{}}, nil
}

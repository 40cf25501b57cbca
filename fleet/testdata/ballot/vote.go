package ballot

import (
	"errors"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Vote is the act by which somebody says what they want. A later vote takes the place of an earlier
// one.
var Vote = protocol.NewAct(protocol.ActSpec{
	Act: "ballot-vote", Heading: "BALLOT-VOTE", Class: protocol.ClassDeed, Doc: "Says what its author wants.",
}, parseVote, func(choice string) string { return "BALLOT-VOTE | choice: " + choice }, "yes")

func parseVote(body string) (choice string, err error) {
	first, _, _ := strings.Cut(body, "\n")
	_, choice, _ = strings.Cut(first, " | choice: ")
	if choice == "" {
		return "", errors.New("it chooses nothing")
	}
	return choice, nil
}

// Choose votes in a channel.
func Choose(by string, c protocol.ChannelID, choice string) affair.Command {
	return Kind().Command(c.String(), func(b Ballot, _ time.Time) ([]affair.Draft, error) {
		return b.about(by, c, Vote.Act, Vote.Format(choice))
	})
}

// about makes a deed about what is put to the vote.
func (b Ballot) about(by string, c protocol.ChannelID, act protocol.Act, body string) ([]affair.Draft, error) {
	if b.Opened.IsZero() || b.Closed {
		return nil, refusal.New(refusal.Forbidden, "", "nothing is put to the vote in %s", c)
	}
	return []affair.Draft{{Channel: c, Message: protocol.Message{
		From: by, To: []protocol.Address{{Name: protocol.All}}, Type: protocol.TypeText, Act: act, Re: protocol.Refer(c, b.Opened), Body: body,
	}}}, nil
}

func (b Ballot) vote(d affair.Deed) (Ballot, error) {
	choice, err := Vote.Parse(d.Body)
	if err == nil {
		err = b.open(d)
	}
	if err != nil {
		return b, err
	}
	return b.with(func(votes map[string]string) { votes[d.Author().Name] = choice }), nil
}

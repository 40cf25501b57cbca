package ballot

import (
	"errors"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

// Withdraw is the act by which somebody takes a vote back.
var Withdraw = protocol.NewAct(protocol.ActSpec{
	Act: "ballot-withdraw", Heading: "BALLOT-WITHDRAW", Class: protocol.ClassDeed, Doc: "Takes its author's vote back.",
}, func(string) (struct{}, error) { return struct{}{}, nil }, func(struct{}) string { return "BALLOT-WITHDRAW | " }, struct{}{})

// Abstain takes a vote back.
func Abstain(by string, c protocol.ChannelID) affair.Command {
	return Kind().Command(c.String(), func(b Ballot, _ time.Time) ([]affair.Draft, error) {
		return b.about(by, c, Withdraw.Act, Withdraw.Format(struct{}{}))
	})
}

func (b Ballot) withdraw(d affair.Deed) (Ballot, error) {
	if err := b.open(d); err != nil {
		return b, err
	}
	name := d.Author().Name
	if b.Votes[name] == "" {
		return b, errors.New("there is no vote to take back")
	}
	return b.with(func(votes map[string]string) { delete(votes, name) }), nil
}

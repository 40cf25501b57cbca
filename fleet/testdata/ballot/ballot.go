// Package ballot is a small affair that shows which files an affair needs: this one for its value
// and its fold, and one for each act with its words and its command.
package ballot

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

// Ballot is a question that is put to the vote. It does not change.
type Ballot struct {
	Opened   protocol.Path // the proposal; zero if there is none
	By       string
	Question string
	Until    time.Time         // votes that are dated later do not count
	Votes    map[string]string // by name, what each wants now
	Closed   bool
}

// Kind is the kind of affair that ballots are. There is at most one in a channel.
func Kind() *affair.Kind[Ballot] {
	return &affair.Kind[Ballot]{
		Name: "ballot",
		Acts: []protocol.ActSpec{Propose.ActSpec, Vote.ActSpec, Withdraw.ActSpec},
		Of: func(m *protocol.Message) (string, bool) {
			return m.Path.Channel().String(), true
		},
		Begin: func(string) Ballot { return Ballot{} },
		Step:  step,
		At: func(b Ballot, now time.Time) Ballot {
			b.Closed = !b.Until.IsZero() && now.After(b.Until)
			return b
		},
	}
}

func step(b Ballot, d affair.Deed) (Ballot, error) {
	switch d.Act {
	case Propose.Act:
		return b.propose(d)
	case Vote.Act:
		return b.vote(d)
	}
	return b.withdraw(d)
}

// open returns an error if a deed does not belong to an open ballot.
func (b Ballot) open(d affair.Deed) error {
	asked, _ := d.AnsweredPath()
	switch {
	case b.Opened.IsZero():
		return errors.New("nothing is put to the vote here")
	case asked != b.Opened:
		return fmt.Errorf("it is about %q, and the vote about %s", d.Re, b.Opened)
	case d.Timestamp.After(b.Until):
		return errors.New("the vote was over")
	}
	return nil
}

// with is the ballot with its votes changed.
func (b Ballot) with(change func(votes map[string]string)) Ballot {
	votes := maps.Clone(b.Votes)
	change(votes)
	b.Votes = votes
	return b
}

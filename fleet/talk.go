package fleet

import (
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/people"
	"github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/protocol"
)

// Talk is what messages are to people: for whom they are, who has read and answered them, and to
// which conversation they belong.
type Talk struct {
	recordID  string
	ledger    *Ledger
	ring      func() *keys.Ring
	people    *people.Directory
	run       func(protocol.Path, string) runs.Run // an agent's work on a message
	readHolds func() bool                          // whether what the archive says of receipts still holds
	judged    func() int                           // rises whenever it may have changed who signs for whom

	conversations conversations
}

// Answers are the messages that answer the one at `p`, in the order of the record: messages that
// refer to it, and texts of other programs that receipts for it take (R15a).
func (t *Talk) Answers(p protocol.Path) []*Item {
	var answers sequence
	for _, it := range answering.find(t.ledger, p) {
		if t.ring().Signature(&it.File) != protocol.SignatureRefused {
			answers.insert(it)
		}
	}
	for _, r := range receipts.find(t.ledger, p) {
		if text := t.unsaidAnswer(r); text != nil {
			answers.insert(text)
		}
	}
	return answers.items
}

// FirstAnswer is the first message that answers the one at `p`. A further message of the asker that
// refers to its own message, such as one word more, does not count.
func (t *Talk) FirstAnswer(p protocol.Path) (*Item, bool) { return t.FirstAnswerFor(p, Who{}) }

// FirstAnswerFor is FirstAnswer for a participant that waits. Its own answer to the message of
// somebody else does not count.
func (t *Talk) FirstAnswerFor(p protocol.Path, waits Who) (*Item, bool) {
	asked := t.ledger.at(p)
	for _, it := range t.Answers(p) {
		more := asked != nil && it.Author().Name == asked.Author().Name && !t.addresses(asked, it.Author().Name)
		own := asked != nil && it.by(waits) && !asked.by(waits)
		if !more && !own {
			return it, true
		}
	}
	return nil, false
}

// Stage is how far the message at `p` has come, as far as the fold knows: StageAnswered, StageRead
// or StageNone. Only the node knows the earlier stages.
func (t *Talk) Stage(p protocol.Path) protocol.Stage {
	if _, ok := t.FirstAnswer(p); ok {
		return protocol.StageAnswered
	}
	it := t.ledger.at(p)
	if it == nil {
		return protocol.StageNone
	}
	for _, r := range receipts.find(t.ledger, p) {
		if t.receiptCounts(r, it) && t.addresses(it, r.Author().Name) {
			return protocol.StageRead
		}
	}
	return protocol.StageNone
}

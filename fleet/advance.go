package fleet

import "github.com/parleyfleet/parley/protocol"

// Advance is a stage to which an addressee of a message has brought it.
type Advance struct {
	Of    *Item          // the message
	By    string         // the addressee, without its host
	Stage protocol.Stage // StageRead or StageAnswered
}

// Advance is what a receipt or an answer changes in the Progress of another message. It is false
// if, in the order of the record, its author had already brought that message as far.
func (t *Talk) Advance(it *Item) (Advance, bool) {
	if it.Type == protocol.TypeRead {
		return t.advanceByReceipt(it)
	}
	p, _ := it.AnsweredPath()
	of, by := t.ledger.at(p), it.Author().Name
	if !t.isFor(of, by) || !it.same(t.firstAnswerBy(of, by)) {
		return Advance{}, false
	}
	return Advance{of, by, protocol.StageAnswered}, true
}

func (t *Talk) advanceByReceipt(receipt *Item) (Advance, bool) {
	p, _ := receipt.ReadPath()
	of, by := t.ledger.at(p), receipt.Author().Name
	if !t.isFor(of, by) {
		return Advance{}, false
	}
	answer := t.firstAnswerBy(of, by)
	if text := t.unsaidAnswer(receipt); text != nil && text.same(answer) {
		return Advance{of, by, protocol.StageAnswered}, true
	}
	if answer != nil && before(answer, receipt) || !t.receiptCounts(receipt, of) {
		return Advance{}, false
	}
	for _, r := range receipts.find(t.ledger, p) {
		if r.Author().Name == by && before(r, receipt) && t.receiptCounts(r, of) {
			return Advance{}, false
		}
	}
	return Advance{of, by, protocol.StageRead}, true
}

// isFor reports whether `name` is an addressee of the message `of`. Receipts have no addressees.
func (t *Talk) isFor(of *Item, name string) bool {
	return of != nil && of.Type == protocol.TypeText && t.addresses(of, name)
}

// firstAnswerBy is the first answer of somebody to a message, nil if there is none.
func (t *Talk) firstAnswerBy(of *Item, by string) *Item {
	for _, answer := range t.Answers(of.Path) {
		if answer.Author().Name == by {
			return answer
		}
	}
	return nil
}

// same reports whether two items have the same path: an archive makes a new item each time.
func (it *Item) same(other *Item) bool { return other != nil && it.Path == other.Path }

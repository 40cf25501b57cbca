package fleet

import (
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// ReadBy reports whether a receipt of the participant for the message counts. If somebody has had
// the message tried again, only a receipt behind the last such word counts.
func (t *Talk) ReadBy(it *Item, who Who) bool {
	for _, r := range receipts.find(t.ledger, it.Path) {
		if r.Author().Name == who.Name && (r.Sealed || r.by(who)) && t.receiptCounts(r, it) {
			again := t.run(it.Path, who.Name).Again
			if again == nil || again.Before(r.position()) {
				return true
			}
		}
	}
	return false
}

// receiptCounts applies R9. A receipt counts if a host signed it that serves or has declared the
// receipt's author.
//
// Any other receipt is unsigned, or signed by a host that did not declare its author. It counts if
// no host with a key declares the author. It also counts if it and its message stand before the
// first such declaration: what was acknowledged before an agent was served somewhere stays
// acknowledged. If a host is chosen to act on the message, its declaration is the one that matters.
// The message must be as old as its receipt, because otherwise a receipt with an early date would
// take any new message from its agent.
func (t *Talk) receiptCounts(r, it *Item) bool {
	switch t.ring().Signature(&r.File) {
	case protocol.SignatureValid:
		return true
	case protocol.SignatureRefused:
		return false
	}
	since := t.declaredSince(r.Author().Name, t.chosenHost(it, r.Author().Name))
	return since == nil || before(r, since) && before(it, since)
}

// declaredSince is the first word by which the host declared the name, with its place. If `host` is
// "", or never declared the name, it is the first word of any host. It is nil if no host declared
// it.
func (t *Talk) declaredSince(name string, host protocol.Name) (first *Item) {
	if word := t.ring().Declared(host, name); word != nil {
		return t.standingWord(word)
	}
	for word := range t.ring().Declarations(name) {
		if at := t.standingWord(word); first == nil || before(at, first) {
			first = at
		}
	}
	return first
}

// standingWord is the word of a host with its place. A word that has lost its path has no place,
// and its timestamp is used.
func (t *Talk) standingWord(word *keys.File) *Item {
	if it := t.ledger.at(word.Path); it != nil && it.Hash == word.Hash {
		return it
	}
	return &Item{File: keys.File{Message: protocol.Message{Path: word.Path}}, Place: word.Timestamp}
}

// GiveReceipt leaves a receipt for a message. If there is nothing to acknowledge, because a receipt
// is there already or the message is not for this participant, it gives neither a message nor a
// refusal.
type GiveReceipt struct {
	As Who
	Of protocol.Path
}

func (c GiveReceipt) decide(s *State, _ time.Time) ([]Draft, error) {
	it := s.Ledger.at(c.Of)
	if it == nil {
		return nil, refuse(Unknown, "", "there is no message %s", c.Of)
	}
	drafts := s.receiptFor(it, c.As)
	if len(drafts) > 0 && !s.Talk.Answerable(it) {
		return nil, unanswerable(it)
	}
	return drafts, nil
}

// receiptFor is the receipt that `who` leaves for the message: one to its author, never to all, and
// none for a receipt (Crosstalk, "Message types").
func (s *State) receiptFor(it *Item, who Who) []Draft {
	if !s.Talk.Reaches(it, who) || s.Talk.ReadBy(it, who) {
		return nil
	}
	return []Draft{{
		Message: protocol.Message{
			From: who.Name,
			To:   []protocol.Address{s.receiptTo(it)},
			Type: protocol.TypeRead,
			Act:  protocol.ActRead,
			Ref:  it.Path.Rel(),
		},
		Channel: it.Path.Channel(),
	}}
}

// receiptTo is the address of a receipt: the author's bare name, if that can be written.
func (s *State) receiptTo(it *Item) protocol.Address {
	if bare := (protocol.Address{Name: it.Author().Name}); protocol.CheckAddress(bare) == nil {
		return bare
	}
	return s.Talk.AuthorOf(it, "")
}

// Receipts are the receipts for the message at p, whether they count or not, in the order
// of the record.
func (t *Talk) Receipts(p protocol.Path) []*Item { return t.notRefused(receipts.find(t.ledger, p)) }

// Sent are the messages that agents sent because of the one at `p` and that answer none, in the
// order of the record (R13).
func (t *Talk) Sent(p protocol.Path) []*Item { return t.notRefused(asideOf.find(t.ledger, p)) }

// notRefused are those whose signatures are not refused, in the order of the record.
func (t *Talk) notRefused(items []*Item) []*Item {
	var all sequence
	for _, it := range items {
		if t.ring().Signature(&it.File) != protocol.SignatureRefused {
			all.insert(it)
		}
	}
	return all.items
}

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
	return each.Find(t.Answers(of.Path), func(answer *Item) bool { return answer.Author().Name == by })
}

// same reports whether two items have the same path: an archive makes a new item each time.
func (it *Item) same(other *Item) bool { return other != nil && it.Path == other.Path }

package fleet

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// ReadBy reports whether a receipt of the participant for the message counts.
func (t *Talk) ReadBy(it *Item, who Who) bool { return t.isRead(it, who) }

// isRead reports whether a receipt of the participant for the message counts. If somebody has had
// the message tried again, only a receipt behind the last such word counts.
func (t *Talk) isRead(it *Item, who Who) bool {
	for _, r := range receipts.find(t.ledger, it.Path) {
		if r.Author().Name == who.Name && (r.Sealed || r.by(who)) && t.receiptCounts(r, it) {
			again := t.run(it.Path, who.Name).Again
			if again == nil || again.Before(affair.Position{Place: r.Place, Path: r.Path}) {
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

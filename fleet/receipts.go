package fleet

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// ReadBy reports whether a receipt of the participant for the message counts.
func (t *Talk) ReadBy(it *Item, who Who) bool { return t.isRead(it, who) }

// isRead reports whether a receipt of the participant for the message counts: one that
// stands behind the last word that has it tried again, where there is one.
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

// receiptCounts applies R9: a receipt counts from a host that serves or declared its author. Any
// other receipt is unsigned, or signed by a host that did not declare its author. It counts where
// no host with a key declares the author, and for messages before one did: such receipts are
// where those authors had got to. That is the host which is to act on the message where one is,
// because what was receipted before an agent was served there stays receipted. The message has to
// be as old as its receipt: else a receipt with an early date would take any new message from its
// agent.
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

// declaredSince is the first word by which that host declared the name, at the place
// where it stands. Where host is "", or never declared it, any host's word counts; nil
// if none did.
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

// standingWord is the word of a host with its place. One that has lost its path stands
// nowhere, and counts from its timestamp on.
func (t *Talk) standingWord(word *keys.File) *Item {
	if it := t.ledger.at(word.Path); it != nil && it.Hash == word.Hash {
		return it
	}
	return &Item{File: keys.File{Message: protocol.Message{Path: word.Path}}, Place: word.Timestamp}
}

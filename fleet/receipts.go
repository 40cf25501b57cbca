package fleet

import (
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// isRead reports whether a receipt of the participant for the message counts.
func (s *State) isRead(it *Item, who Who) bool {
	for _, r := range receipts.find(s.Ledger, it.Path) {
		if r.Author().Name == who.Name && (r.Sealed || r.by(who)) && s.receiptCounts(r, it) {
			return true
		}
	}
	return false
}

// receiptCounts applies R9: a receipt counts from a host that serves or declared its
// author. Any other, unsigned or signed by a host that did not declare the author,
// counts where no host with a key did, and for what was acknowledged before one did:
// receipts are the cursor of those who came before. That is the host which is to act on
// the message where one is, because what was receipted before an agent was served there
// stays receipted. The message has to be as old as its receipt: else a receipt with an
// early date would take any new message from its agent.
func (s *State) receiptCounts(r, it *Item) bool {
	switch s.Signature(r) {
	case protocol.SignatureValid:
		return true
	case protocol.SignatureRefused:
		return false
	}
	since := s.declaredSince(r.Author().Name, s.chosenHost(it, r.Author().Name))
	return since == nil || before(r, since) && before(it, since)
}

// declaredSince is the first word by which a host declared the name, at the place where
// it stands: of that host or, where it is "" or did not, of any; nil if none did.
func (s *State) declaredSince(name string, host protocol.Name) (first *Item) {
	if word := s.Keys().Declared(host, name); word != nil {
		return s.standingWord(word)
	}
	for word := range s.Keys().Declarations(name) {
		if at := s.standingWord(word); first == nil || before(at, first) {
			first = at
		}
	}
	return first
}

// standingWord is the word of a host with its place. One that has lost its path stands
// nowhere, and counts from its timestamp on.
func (s *State) standingWord(word *keys.File) *Item {
	if it := s.Ledger.at(word.Path); it != nil && it.Hash == word.Hash {
		return it
	}
	return &Item{File: keys.File{Message: protocol.Message{Path: word.Path}}, Place: word.Timestamp}
}

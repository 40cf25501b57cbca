package fleet

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/people"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/protocol"
)

// State is what a set of messages says, folded.
type State struct {
	anchor   keys.Anchor
	recordID string
	system   protocol.ChannelID

	Ledger *Ledger
	batch  bool // files are being applied whose places are given later

	affairs affairs
	keys    *keys.History

	frozenAt struct{ judged, shaken int } // the turns when the archive was made

	Chains *Chains
	People *people.Directory // who can be written to
	// What the files of the record say that are no messages.
	Channels *shelf.Channels
	Memories *shelf.Memories
	Profiles *shelf.Profiles
}

// New is the state of a record before its first message, which folds affairs of those
// kinds.
func New(anchor keys.Anchor, kinds ...affair.Any) *State {
	s := &State{
		affairs:  newAffairs(kinds),
		anchor:   anchor,
		recordID: anchor.RecordID,
		system:   protocol.SystemChannel(anchor.RecordID),
		Profiles: shelf.NewProfiles(),
	}
	s.Ledger = newLedger(s.system, kinds, func(f *keys.File) keys.Verdict { return s.Keys().Judge(f) }, s.touched)
	s.People = people.New(s.Keys, func(name string) bool { return s.Ledger.sum(sumWriters, name) > 0 })
	s.Channels = shelf.NewChannels(anchor.RecordID, s.Ledger, s.People)
	s.Memories = shelf.NewMemories(s.Channels)
	s.keys = keys.New(anchor, files{s.Ledger})
	s.Chains = &Chains{s.Ledger, s.keys}
	return s
}

// Keys says who may sign for whom. It holds until the next message is applied.
func (s *State) Keys() *keys.Ring { return s.keys.Ring() }

// Signature is the state of a message's signature in this fleet, see keys.Ring.
func (s *State) Signature(it *Item) protocol.Signature { return s.Keys().Signature(&it.File) }

// turns are how often it may have changed which receipts count, and how often one that
// counted may count no more.
func (s *State) turns() (judged, shaken int) {
	judged, shaken = s.keys.Turns()
	return judged + s.Ledger.receiptsLeft, shaken + s.Ledger.receiptsLeft
}

// Answers are the messages that answer the one at p, in the order of the record: those
// that refer to it, and those of other programs that its receipts take (R15a).
func (s *State) Answers(p protocol.Path) []*Item {
	var answers sequence
	for _, it := range answering.find(s.Ledger, p) {
		if s.Signature(it) != protocol.SignatureRefused {
			answers.insert(it)
		}
	}
	for _, r := range receipts.find(s.Ledger, p) {
		if text := s.unsaidAnswer(r); text != nil {
			answers.insert(text)
		}
	}
	return answers.items
}

// FirstAnswer is the first message by which the one at p is answered. What its author
// sent after it, a word more or the question to somebody else, is none.
func (s *State) FirstAnswer(p protocol.Path) (*Item, bool) {
	asked := s.Ledger.at(p)
	for _, it := range s.Answers(p) {
		if asked == nil || it.Author().Name != asked.Author().Name || s.addresses(asked, it.Author().Name) {
			return it, true
		}
	}
	return nil, false
}

// Stage is how far the fold knows the message at p to have come: StageAnswered,
// StageRead or StageNone. The earlier stages are the node's to know.
func (s *State) Stage(p protocol.Path) protocol.Stage {
	if _, ok := s.FirstAnswer(p); ok {
		return protocol.StageAnswered
	}
	it := s.Ledger.at(p)
	if it == nil {
		return protocol.StageNone
	}
	for _, r := range receipts.find(s.Ledger, p) {
		if s.receiptCounts(r, it) && s.addresses(it, r.Author().Name) {
			return protocol.StageRead
		}
	}
	return protocol.StageNone
}

package fleet

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/people"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/protocol"
)

// State is what a set of messages says, folded. It is made of parts that can be asked one by one.
// Only Apply, Take and the like change them.
type State struct {
	anchor keys.Anchor
	system protocol.ChannelID

	Ledger *Ledger // what was said, in order
	keys   *keys.History
	Chains *Chains           // what each host wrote
	People *people.Directory // who can be written to
	Talk   *Talk             // what messages are to people

	// What the files of the record say that are no messages.
	Channels *shelf.Channels
	Memories *shelf.Memories
	Profiles *shelf.Profiles

	Redactions Redactions // which of their texts are hidden

	affairs  affairs
	dead     deadRuns
	retries  int                          // how often a word came or went that has a message tried again
	turned   map[protocol.ChannelID]int   // see Turn
	batch    bool                         // files are being applied whose places are given later
	frozenAt struct{ judged, shaken int } // the turns at the time when the archive was made
}

// New is the state of a record before its first message. It folds runs, and affairs of the given
// kinds.
func New(anchor keys.Anchor, kinds ...affair.Any) *State {
	kinds = withRuns(kinds)
	s := &State{
		anchor:  anchor,
		system:  protocol.SystemChannel(anchor.RecordID),
		affairs: newAffairs(kinds),
		turned:  map[protocol.ChannelID]int{},
	}
	s.Redactions = Redactions{s}
	s.Ledger = newLedger(s.system, kinds, func(f *keys.File) keys.Verdict { return s.Keys().Judge(f) }, s.touched,
		func(host protocol.Name) { s.keys.Forked(host) })
	s.keys = keys.New(anchor, files{s.Ledger})
	s.Chains = &Chains{s.Ledger, s.keys}
	s.People = people.New(s.Keys, s.Ledger.wrote)
	s.Talk = &Talk{recordID: anchor.RecordID, ledger: s.Ledger, ring: s.Keys, people: s.People, run: s.Run, readHolds: s.readHolds,
		judged: func() int { judged, _ := s.keys.Turns(); return judged }, conversations: newConversations()}
	s.Channels = shelf.NewChannels(anchor.RecordID, s.Ledger, s.People)
	s.Memories = shelf.NewMemories(s.Channels, func(m protocol.Memory) (string, bool) {
		r, hidden := s.Redactions.OfMemory(m)
		return r.String(), hidden
	})
	s.Profiles = shelf.NewProfiles()
	return s
}

// Keys says who may sign for whom. It holds until the next message is applied.
func (s *State) Keys() *keys.Ring { return s.keys.Ring() }

// Signature is the state of a message's signature in this fleet, see keys.Ring.
func (s *State) Signature(it *Item) protocol.Signature { return s.Keys().Signature(&it.File) }

// turns returns two counts: how often it may have changed which receipts count, and how often a
// receipt that counted may have stopped to count.
func (s *State) turns() (judged, shaken int) {
	judged, shaken = s.keys.Turns()
	return judged + s.Ledger.receiptsLeft + s.retries, shaken + s.Ledger.receiptsLeft + s.retries
}

// readHolds reports whether all receipts still count that counted when the archive was made.
func (s *State) readHolds() bool {
	_, shaken := s.turns()
	return shaken == s.frozenAt.shaken
}

package fleet

import (
	"iter"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/protocol"
)

// State is what a set of messages says, folded. What an archive holds stays there;
// what has come since, or has another place now, is loose.
type State struct {
	anchor   keys.Anchor
	recordID string
	system   protocol.ChannelID

	archive *reader
	gone    map[uint32]struct{} // messages of the archive that do not stand as they are there
	loose

	rivals map[protocol.Path][]*Item // files that lost their path to another
	lost   map[string][]*Item        // the same by hash

	batch     bool    // files are being applied whose places are given later
	unsettled []*Item // those that have come, and those that stood behind what has gone
	changes   Changes // since the last Apply, Take or TakeAll began
	circled   bool    // references have been seen to run in a circle

	affairs affairs
	keys    *keys.History
	forks   map[branch]struct{}           // where several messages of one host seem to stand
	files   map[string]protocol.HostState // host files, by path

	receiptsLeft int                          // how many receipts have lost their paths
	frozenAt     struct{ judged, shaken int } // the turns when the archive was made

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
		archive:  newReader(emptyArchive(kinds)),
		gone:     map[uint32]struct{}{},
		loose:    newLoose(),
		rivals:   map[protocol.Path][]*Item{},
		lost:     map[string][]*Item{},
		forks:    map[branch]struct{}{},
		files:    map[string]protocol.HostState{},
		Profiles: shelf.NewProfiles(),
	}
	s.Channels = shelf.NewChannels(anchor.RecordID, spoken{s}, s)
	s.Memories = shelf.NewMemories(s.Channels)
	s.keys = keys.New(anchor, files{s})
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
	return judged + s.receiptsLeft, shaken + s.receiptsLeft
}

// files are those of a state as its keys ask for them.
type files struct{ *State }

// Signed is the sealed file with that hash, whether it stands at its path or has lost it
// to another; nil if there is none.
func (s files) Signed(hash string) *keys.File {
	if it := s.signed(hash); it != nil {
		return &it.File
	}
	return nil
}

// Files yields all files, those last that have lost their paths.
func (s files) Files() iter.Seq[*keys.File] {
	return func(yield func(*keys.File) bool) {
		for it := range s.every() {
			if !yield(&it.File) {
				return
			}
		}
	}
}

// signed is the sealed file with that hash, whether it stands at its path or has lost it
// to another; nil if there is none.
func (s *State) signed(hash string) *Item {
	for _, it := range slices.Concat(hashed.find(s, hash), s.lost[hash]) {
		if it.Sealed {
			return it
		}
	}
	return nil
}

// every yields all files in the order of the record, then those that have lost their paths.
func (s *State) every() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for it := range s.All() {
			if !yield(it) {
				return
			}
		}
		for _, list := range s.rivals {
			for _, it := range list {
				if !yield(it) {
					return
				}
			}
		}
	}
}

// Item is a message as the state keeps it: without its body, but for deeds.
type Item struct {
	keys.File
	Place time.Time // where it stands in the order of the record

	affair affair.ID // whose deed it is, if it is one

	placed bool      // it stands at its Place in the order
	reach  time.Time // see stand
	moving bool      // it goes to next
	next   stand
}

// Len is the number of messages and receipts folded.
func (s *State) Len() int { return s.archive.Len() - len(s.gone) + len(s.items) }

// Loose is how many of them are not in the state's archive.
func (s *State) Loose() int { return len(s.items) }

// SameDay is the number of messages and receipts in the folder of p: those of one
// channel and day.
func (s *State) SameDay(p protocol.Path) int {
	return s.sum(sumDays, p.DayDir())
}

// Item is the message at p.
func (s *State) Item(p protocol.Path) (*Item, bool) {
	it := s.at(p)
	return it, it != nil
}

// Answers are the messages that answer the one at p, in the order of the record: those
// that refer to it, and those of other programs that its receipts take (R15a).
func (s *State) Answers(p protocol.Path) []*Item {
	var answers sequence
	for _, it := range answering.find(s, p) {
		if s.Signature(it) != protocol.SignatureRefused {
			answers.insert(it)
		}
	}
	for _, r := range receipts.find(s, p) {
		if text := s.unsaidAnswer(r); text != nil {
			answers.insert(text)
		}
	}
	return answers.items
}

// FirstAnswer is the first message by which the one at p is answered. What its author
// sent after it, a word more or the question to somebody else, is none.
func (s *State) FirstAnswer(p protocol.Path) (*Item, bool) {
	asked := s.at(p)
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
	it := s.at(p)
	if it == nil {
		return protocol.StageNone
	}
	for _, r := range receipts.find(s, p) {
		if s.receiptCounts(r, it) && s.addresses(it, r.Author().Name) {
			return protocol.StageRead
		}
	}
	return protocol.StageNone
}

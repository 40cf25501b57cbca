package fleet

import (
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/protocol"
)

// State is what a set of messages says, folded. What an archive holds stays there;
// what has come since, or has another place now, is loose.
type State struct {
	anchor   Anchor
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

	affairs  affairs
	words    words
	ring     *keyring
	lineages lineages
	stale    bool             // words have come in a batch that the ring does not know
	last     map[signer]*Item // the greatest path that each signed
	signed   map[signer]int   // how many files each signed
	refused  tally
	forks    map[branch]struct{}           // where several messages of one host seem to stand
	files    map[string]protocol.HostState // host files, by path

	// judged counts how often it may have changed which receipts count, shaken how
	// often one that counted may count no more; frozenAt is when the archive was made.
	judged, shaken int
	frozenAt       struct{ judged, shaken int }
	ringed         int                   // how often the ring has changed
	epochs         map[protocol.Name]int // under "" how often anything may have changed whom hosts declare

	// What the files of the record say that are no messages.
	Channels *shelf.Channels
	Memories *shelf.Memories
	Profiles *shelf.Profiles
}

// New is the state of a record before its first message, which folds affairs of those
// kinds.
func New(anchor Anchor, kinds ...affair.Any) *State {
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
		words:    newWords(),
		lineages: newLineages(),
		last:     map[signer]*Item{},
		signed:   map[signer]int{},
		forks:    map[branch]struct{}{},
		files:    map[string]protocol.HostState{},
		epochs:   map[protocol.Name]int{},
		Profiles: shelf.NewProfiles(),
	}
	s.Channels = shelf.NewChannels(anchor.RecordID, spoken{s}, s)
	s.Memories = shelf.NewMemories(s.Channels)
	s.ring = s.historian().keyring()
	return s
}

// Item is a message as the state keeps it: without its body, but for deeds.
type Item struct {
	protocol.Message // Body is empty but for deeds
	Hash             string
	Place            time.Time // where it stands in the order of the record

	affair affair.ID // whose deed it is, if it is one

	sealed bool              // the signature fits the bytes, the path and the record
	word   protocol.HostWord // what a host act says

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

// LastOf is the last message of a host in the order of its own chain: the one
// with the greatest path that its keys signed while they counted.
func (s *State) LastOf(host protocol.Name) (*Item, bool) {
	h, joined := s.Host(host)
	if !joined {
		return nil, false
	}
	var last *Item
	for _, held := range h.keys {
		it := s.last[signer{host, held.key}]
		if it != nil && h.judge(it) == genuine {
			last = later(last, it)
		}
		if held.by != nil {
			last = later(last, held.by)
		}
	}
	return last, last != nil
}

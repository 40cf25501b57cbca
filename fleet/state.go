package fleet

import (
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// State is what a set of messages says, folded.
type State struct {
	recordID string
	system   protocol.ChannelID

	items      map[protocol.Path]*Item
	rivals     map[protocol.Path][]*Item // files that lost their path to another
	order      sequence                  // everything, by place
	channels   map[protocol.ChannelID]*sequence
	mail       map[string][]*Item        // by addressed name
	broadcasts []*Item                   // to all
	receipts   map[protocol.Path][]*Item // by the message read
	answers    map[protocol.Path][]*Item // by the message answered
	byHash     map[string]*Item
	followers  map[string][]*Item // by the hash that prev names
	requests   map[string][]*Item // by the id of the request
	days       map[string]int     // messages by their folder
	writers    map[string]int     // messages by author's name

	batch     bool    // files are being applied whose places are given later
	unsettled []*Item // those that have come, and those that stood behind what has gone
	turned    []*Item // those that the last Apply brought to their paths beside its own

	hosts map[protocol.Name]*Host              // those with a key
	files map[protocol.Name]protocol.HostState // host files of other programs

	channelFiles map[protocol.ChannelID]protocol.ChannelFile
	memories     map[string]protocol.Memory // by file
	actors       map[string]protocol.Actor  // profiles by path
}

// New is the state of the record with the id recordID before its first message.
func New(recordID string) *State {
	return &State{
		recordID:  recordID,
		system:    protocol.SystemChannel(recordID),
		items:     map[protocol.Path]*Item{},
		rivals:    map[protocol.Path][]*Item{},
		channels:  map[protocol.ChannelID]*sequence{},
		mail:      map[string][]*Item{},
		receipts:  map[protocol.Path][]*Item{},
		answers:   map[protocol.Path][]*Item{},
		byHash:    map[string]*Item{},
		followers: map[string][]*Item{},
		requests:  map[string][]*Item{},
		days:      map[string]int{},
		writers:   map[string]int{},
		hosts:     map[protocol.Name]*Host{},
		files:     map[protocol.Name]protocol.HostState{},

		channelFiles: map[protocol.ChannelID]protocol.ChannelFile{},
		memories:     map[string]protocol.Memory{},
		actors:       map[string]protocol.Actor{},
	}
}

// Item is a message as the state keeps it: without its body.
type Item struct {
	protocol.Message // Body is empty
	Hash             string
	Place            time.Time // where it stands in the order of the record

	sealed bool                // the signature fits the bytes, the path and the record
	host   *protocol.HostState // what a host act says

	placed bool      // it stands at its Place in the order
	moving bool      // it goes to next
	next   time.Time // its place to be
}

// Len is the number of messages and receipts folded.
func (s *State) Len() int { return len(s.items) }

// SameDay is the number of messages and receipts in the folder of p: those of one
// channel and day.
func (s *State) SameDay(p protocol.Path) int { return s.days[p.DayDir()] }

// Item is the message at p.
func (s *State) Item(p protocol.Path) (*Item, bool) {
	it, ok := s.items[p]
	return it, ok
}

// All returns every message in the order of the record. The slice is the
// state's own: it holds until the next Apply and must not be changed.
func (s *State) All() []*Item { return s.order.items }

// Channel returns the messages of one channel in the order of the record, under
// the same terms as All.
func (s *State) Channel(c protocol.ChannelID) []*Item {
	if seq := s.channels[c]; seq != nil {
		return seq.items
	}
	return nil
}

// Answers are the messages that refer to p as what they answer, in the order of
// the record.
func (s *State) Answers(p protocol.Path) []*Item {
	var answers sequence
	for _, it := range s.answers[p] {
		if s.Signature(it) != protocol.SignatureRefused {
			answers.insert(it)
		}
	}
	return answers.items
}

// Find returns the messages whose name ends in the given suffix of eight or
// more hex digits (R2).
func (s *State) Find(suffix string) []*Item {
	var found []*Item
	tail := "-" + suffix + ".md"
	for _, it := range s.order.items {
		if strings.HasSuffix(it.Path.Rel(), tail) && it.Path.Suffix() == suffix {
			found = append(found, it)
		}
	}
	return found
}

// Stage is how far the fold knows the message at p to have come: StageAnswered,
// StageRead or StageNone. The earlier stages are the node's to know.
func (s *State) Stage(p protocol.Path) protocol.Stage {
	if len(s.Answers(p)) > 0 {
		return protocol.StageAnswered
	}
	it, ok := s.items[p]
	if !ok {
		return protocol.StageNone
	}
	for _, r := range s.receipts[p] {
		if s.receiptCounts(r) && s.addresses(it, r.From) {
			return protocol.StageRead
		}
	}
	return protocol.StageNone
}

// LastOf is the last message of a host in the order of its own chain: the one
// with the greatest path.
func (s *State) LastOf(host protocol.Name) (*Item, bool) {
	h := s.hosts[host]
	if h == nil || h.last == nil {
		return nil, false
	}
	return h.last, true
}

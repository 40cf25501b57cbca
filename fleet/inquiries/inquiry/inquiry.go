// Package inquiry has the values of inquiries that are shown as they are. They follow from the
// record alone, and the rules that make them are in fleet/inquiries. What deeds say word for word
// is shown as the protocol has it.
package inquiry

import (
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Tension is what two perspectives differ on, with what they said to each other and reported:
// everything that was found between them in one cycle (R43).
type Tension struct {
	ID       string                    `json:"id"`       // its cycle and number
	Cycle    int                       `json:"cycle"`    // the cycle in which it was found
	Peers    [2]string                 `json:"peers"`    // the two perspectives
	Triggers []protocol.InquiryTrigger `json:"triggers"` // what it was about, with the words on which it rests
	Topic    protocol.Path             `json:"-"`        // the message that told the peers; zero before
	Messages []Said                    `json:"messages"` // three at most
	Reports  []protocol.InquiryReport  `json:"reports"`  // one for each peer
	Asked    []Said                    `json:"asked"`    // what the coordinator asked a peer once more
	Answers  []Said                    `json:"answers"`  // the answers to that
}

// Said is what a peer said, or was asked.
type Said struct {
	Perspective string        `json:"perspective"` // its name
	Text        string        `json:"text"`        // word for word
	Path        protocol.Path `json:"message"`     // the message that says it
	Done        bool          `json:"done"`        // the author has no more to say
}

// MaxMessages is how many messages a pair has in one tension (R43).
const MaxMessages = 3

// Topics are what a tension is about.
func (t *Tension) Topics() (topics []string) {
	return each.Of(t.Triggers, func(trigger protocol.InquiryTrigger) string { return trigger.Topic })
}

// Talked reports whether a pair has said what it had to say.
func (t *Tension) Talked() bool {
	n := len(t.Messages)
	return n == MaxMessages || n > 0 && t.Messages[n-1].Done
}

// Turn is whose turn it is to speak.
func (t *Tension) Turn() string { return t.Peers[len(t.Messages)%2] }

// Closed reports whether nothing more is to come of the tension.
func (t *Tension) Closed() bool {
	return len(t.Reports) == 2 && len(t.Answers) == len(t.Divergent())
}

// Divergent are the peers who report that something divides them.
func (t *Tension) Divergent() []string {
	var list []string
	for _, p := range t.Peers {
		for _, r := range t.Reports {
			if r.Perspective == p && strings.TrimSpace(r.Divergence) != "" {
				list = append(list, p)
			}
		}
	}
	return list
}

// Question is what a peer was asked once more; "" if nothing was asked.
func (t *Tension) Question(perspective string) string {
	for _, s := range t.Asked {
		if s.Perspective == perspective {
			return s.Text
		}
	}
	return ""
}

// Late is a signal of a run that was given up: a member ended when it no longer counted.
type Late struct {
	Perspective string        `json:"perspective"` // its name
	Attempt     int           `json:"attempt"`     // number of the attempt
	Path        protocol.Path `json:"message"`     // the message that says so
	Result      string        `json:"result"`      // hex SHA-256 of what it found
}

// Fault is a deed that breaks a line of the checklist, or does not count.
type Fault struct {
	Line   string        `json:"line"`   // "" if it is of no line
	At     protocol.Path `json:"at"`     // the message
	Why    string        `json:"why"`    // the reason in words
	Breaks bool          `json:"breaks"` // the inquiry does not hold because of it; else it only does not count
}

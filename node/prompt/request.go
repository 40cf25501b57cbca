package prompt

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// DefaultLimit bounds a text whose request names no limit, in bytes without the
// message. It leaves room for a message in an argument of 128 KiB.
const DefaultLimit = 48 << 10

// ShownMessage is a message as an agent is shown it.
type ShownMessage struct {
	Path      protocol.Path
	From      string
	Host      protocol.Name // "" = not said
	To        []string      // "name" or "name@host"
	At        time.Time
	Act       protocol.Act
	Signature protocol.Signature
	Body      string
}

// Request is all that a text is made of. The caller has chosen what the agent may
// see: everything here may be shown to it.
type Request struct {
	Agent, Host, Fleet string
	// Profile is who the agent is. It is believed; nil = there is none.
	Profile *protocol.Actor
	Channel protocol.ChannelID
	// Purposes describes the channel: its own CHANNEL.md first, then its parents'.
	// Empty ones, with neither name nor text, stand for channels without one.
	Purposes []protocol.ChannelFile
	Memories []protocol.Memory // those in scope, in any order
	History  []ShownMessage    // oldest first
	Older    bool              // there are messages before those, nobody has counted them
	Message  ShownMessage      // what is to be answered; not part of a Context
	// Fence is the word of the fences: 16 to 64 letters and digits, drawn at
	// random for this one text. A word that is none, or that occurs in the text,
	// is replaced by a hash over the whole request, which no writer can foresee.
	Fence string
	// Limit is how many bytes the text may have without that of the message; 0 =
	// DefaultLimit. Earlier messages are left out first, the oldest first, then
	// memories, the oldest first, then descriptions are cut, those of parents
	// first. The frame and the profile are never cut.
	Limit int
}

// Prompt is a text for a model.
type Prompt struct {
	Text    string
	Parts   []Part // what it is made of: their texts, one after the other, are Text
	Fence   string // the word of its fences, which is in no part but there; "" where it has none
	LeftOut LeftOut
}

// Kind is what a part of a text is.
type Kind string

// The kinds of parts.
const (
	Profile Kind = "profile" // who the agent is
	Frame   Kind = "frame"   // what parley says: the task, the rules, headings
	Channel Kind = "channel" // what a channel is for
	Memory  Kind = "memory"
	Earlier Kind = "earlier" // a message before the one that is to be answered
	Message Kind = "message" // the message that is to be answered
)

// Part is a part of a text. What two texts have in common is a part of its own in both,
// but for the word of its fence.
type Part struct {
	Kind Kind
	Text string
}

// LeftOut counts what the limit kept out of a text. The text says so too.
type LeftOut struct {
	Messages int // earlier messages
	Memories int
	Purposes int // channel descriptions that were cut or are missing
}

// Total is how many texts of others are missing or cut.
func (l LeftOut) Total() int { return l.Messages + l.Memories + l.Purposes }

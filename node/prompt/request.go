package prompt

import (
	"fmt"
	"time"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

// DefaultLimit bounds a text whose request names no limit, in bytes. The message does not count. It
// leaves room for a message in an argument of 128 KiB.
const DefaultLimit = 48 << 10

// ShownMessage is a message as an agent is shown it.
type ShownMessage struct {
	Path       protocol.Path
	From       string
	Host       protocol.Name // "" if it is not said
	To         []string      // "name" or "name@host"
	At         time.Time
	Act        protocol.Act
	Signature  protocol.Signature
	Unattended bool // its host could not tell which program wrote it in From's name
	Body       string
}

// Request is all that a text is made of. The caller has chosen what the agent may see: all of it
// may be shown to the agent.
type Request struct {
	Agent, Host, Fleet string
	// Profile says who the agent is, in the operator's word; nil: there is none.
	Profile *protocol.Actor
	// Unaccepted is a profile that the operator has not accepted: text of others (R73); nil: none.
	Unaccepted *protocol.Actor
	Channel    protocol.ChannelID
	// Purposes describe the channel: first its own CHANNEL.md, then those of its parents. An entry
	// with neither name nor text stands for a channel without description.
	Purposes []protocol.ChannelFile
	Memories []protocol.Memory // those in scope, in any order
	History  []ShownMessage    // the oldest first
	Older    bool              // there are messages before History that nobody has counted
	Message  ShownMessage      // the message to be answered; not part of a Context
	// Fence is the word of the fences: 16 to 64 letters and digits, drawn at random for this one
	// text. If it is not of that form, or occurs in the text, it is replaced by a hash over all
	// texts, which no writer can foresee.
	Fence string
	// Limit is how many bytes the text may have, not counting the message; 0: DefaultLimit. To keep
	// it, earlier messages are left out first, the oldest first, then memories, the oldest first.
	// Then descriptions are cut, those of parents first, and a profile that is not accepted. The
	// frame and an accepted profile are never cut.
	Limit int
}

// Prompt is a text for a model.
type Prompt struct {
	Text    string
	Parts   []Part // what it is made of: the texts of the parts, one after the other, are Text
	Fence   string // the word of its fences, which occurs in parts only as that; "" if there are no fences
	LeftOut LeftOut
}

// Kind says what a part of a text is.
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

// Part is a part of a text. What two texts have in common is a part of its own in both, except for
// the word of the fence.
type Part struct {
	Kind Kind
	Text string
}

// LeftOut counts what the limit kept out of a text. The text says so too.
type LeftOut struct {
	Messages int // earlier messages
	Memories int
	Purposes int // channel descriptions that were cut or left out
	Profile  int // a profile that the operator has not accepted, and that was cut or left out
}

// Total is how many texts of others were left out or cut.
func (l LeftOut) Total() int { return l.Messages + l.Memories + l.Purposes + l.Profile }

// Asked writes the text for the command of an agent that takes part in an inquiry of another host.
// `text` is what that host asks, and stands in a fence.
func Asked(host, text string) string {
	asked := newPart("", visible.Text(text))
	f := chooseFence("", []string{asked.body})
	return fmt.Sprintf(`# Your task

The host %s has you take part in its inquiry, in which several perspectives look at one question. What it asks, and in which form, stands in a fence below.

Everything that you print on standard output is told to that host and to its fleet, so print the answer and nothing else.

`, Name(host)) + rulesText(f) + "# What is asked\n\n" + asked.written(f) + "# Now\n\nAnswer what is asked, in the form that it names. What you print is your answer.\n"
}

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Type tells a message from a receipt (Crosstalk, "Message types").
type Type string

// The two types of the seed. A reader skips a file with any other.
const (
	TypeText Type = "text" // a message with a body
	TypeRead Type = "read" // a receipt: the message at Ref was read
)

// Message is one message file, decoded. The fields up to Via are Crosstalk's
// own, the others are parley's and absent from messages that other programs
// write.
type Message struct {
	Path Path // where the file is; not part of its bytes

	From      string
	To        []Address
	Type      Type
	Timestamp time.Time // UTC, kept to the millisecond when written
	Ref       string    // receipts: the message read, below the channel's directory
	Via       string    // who committed on behalf of From

	Act     Act    // what the message does; Decode fills it in where the file leaves it out
	Re      string // the message it answers: below the channel, or "<uuid>/path"
	Hops    int    // on what an agent writes because of a message: 1 + that message's (R13)
	Because string // that message: below the channel, or "<uuid>/path"
	Host    Name   // the sending host
	Run     string // eight hex digits that a node draws at each start, after a change of key and after a failed store
	Seq     uint64 // counter within the run, from 1
	Prev    string // hex SHA-256 of the host's previous file
	Request string // what the sender's program calls its request, so that it is carried out once
	Human   string // the human who took the decision that the message carries
	Hsig    string // that human's own signature of it, base64url (R35)
	// Unattended says that the host could not tell which program gave it the message
	// in the name of From (R37).
	Unattended bool
	Chosen     []Choice // the instance that is to act, per addressed agent (R7)
	Key        string   // public nkey of the sending host
	Sig        string   // signature, base64url

	Extra []Field // fields that parley does not know, in their order
	Body  string  // without the file's final newline
}

// Field is a frontmatter field that parley does not know.
type Field struct{ Key, Value string }

// MaxRequest is the longest id of a request, in bytes.
const MaxRequest = 64

var requestID = pattern.New(`^[A-Za-z0-9._:-]{1,64}$`)

// CheckRequest returns why id cannot be the id of a request, if it cannot.
func CheckRequest(id string) error {
	if !requestID.MatchString(id) {
		return fmt.Errorf("a request's id is 1 to %d letters, digits and . _ : -", MaxRequest)
	}
	return nil
}

// Choice pins one addressed agent to one instance: the n-th worker of a tier
// on a host (R6, R7). It is written "host/tier/n", and "agent=host/tier/n"
// where a message has several addressees.
type Choice struct {
	Agent string // empty where the message has one addressee
	Instance
}

// AnsweredPath is the message that m answers, where Re names one.
func (m *Message) AnsweredPath() (Path, bool) { return m.resolve(m.Re) }

// CausePath is the message because of which an agent wrote m, where Because names
// one.
func (m *Message) CausePath() (Path, bool) { return m.resolve(m.Because) }

// ReadPath is the message that the receipt m acknowledges.
func (m *Message) ReadPath() (Path, bool) {
	if m.Type != TypeRead {
		return Path{}, false
	}
	return m.resolve(m.Ref)
}

// resolve reads a reference as it stands in m: below m's channel, or with the
// channel's id before it.
func (m *Message) resolve(ref string) (Path, bool) {
	if ref == "" {
		return Path{}, false
	}
	if p, err := JoinPath(m.Path.Channel(), ref); err == nil {
		return p, true
	}
	p, err := ParsePath(ref)
	return p, err == nil
}

// Refer is how a message in channel writes a reference to p: below the channel
// where both are in it, else with p's channel before it.
func Refer(channel ChannelID, p Path) string {
	if p.Channel() == channel {
		return p.Rel()
	}
	return p.String()
}

// ToAll reports whether m is addressed to every participant.
func (m *Message) ToAll() bool {
	for _, a := range m.To {
		if a.Name == All && a.Host == "" {
			return true
		}
	}
	return false
}

// Names returns the addressees in their written form, never nil.
func (m *Message) Names() []string {
	names := make([]string, len(m.To))
	for i, a := range m.To {
		names[i] = a.String()
	}
	return names
}

// ChosenFor is the instance that the sender chose for the addressed agent, if
// it chose one.
func (m *Message) ChosenFor(agent string) (Instance, bool) {
	for _, c := range m.Chosen {
		if c.Agent == agent || c.Agent == "" && len(m.To) == 1 {
			return c.Instance, true
		}
	}
	return Instance{}, false
}

// Hash is the name of a file's bytes: their SHA-256 in hex. Prev holds it.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// NormalBody is the form of body that a file can carry: without newlines at its
// end, because every file ends in exactly one.
func NormalBody(body string) string { return strings.TrimRight(body, "\n") }

// Author is who wrote the message. Some programs name the host too, as "name@host" or
// "host:name" (R5); a name that is neither stands as it is.
func (m *Message) Author() Address {
	if !strings.ContainsAny(m.From, "@:") { // nearly all
		return Address{Name: m.From}
	}
	a, err := ParseAddress(m.From)
	if err != nil {
		return Address{Name: m.From}
	}
	return a
}

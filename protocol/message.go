package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
)

// Type tells a message from a receipt (Crosstalk, "Message types").
type Type string

// The two types of the seed. A reader skips a file with any other.
const (
	TypeText Type = "text" // a message with a body
	TypeRead Type = "read" // a receipt: the message at Ref was read
)

// Message is one message file, decoded. The fields up to Via are Crosstalk's own. The others are
// parley's, and messages that other programs write do not have them.
type Message struct {
	Path Path // where the file is; not part of its bytes

	From      string
	To        []Address
	Type      Type
	Timestamp time.Time // UTC, kept to the millisecond when written
	Ref       string    // receipts: the message that was read, below the channel's directory
	Via       string    // who committed on behalf of From

	Act     Act    // what the message does; Decode finds it out if the file does not say it
	Re      string // the message it answers: below the channel, or "<uuid>/path"
	Hops    int    // on what an agent writes because of a message: 1 + the Hops of that message (R13)
	Because string // the message because of which an agent wrote this: below the channel, or "<uuid>/path"
	Host    Name   // the sending host
	Run     string // eight hex digits that a node draws at each start, after a change of key and after a failed store
	Seq     uint64 // counter within the run, from 1
	Prev    string // hex SHA-256 of the host's previous file
	Request string // what the sender's program calls its request, so that it is carried out once
	Human   string // the human who took the decision that the message carries
	Hsig    string // that human's own signature of it, base64url (R35)
	// Unattended says that the host could not tell which program gave it the message in From's name
	// (R37).
	Unattended bool
	Chosen     []Choice // for each addressed agent, the instance that is to act (R7)
	Key        string   // public nkey of the sending host
	Sig        string   // signature, base64url

	Extra []Field // fields that parley does not know, in their order
	Body  string  // without the file's final newline
}

// Field is a frontmatter field that parley does not know.
type Field struct{ Key, Value string }

type messageField struct {
	key   string
	write func(w *frontmatter, m *Message)
	read  func(m *Message, f field) // nil: takeRequired reads it
}

// messageFields are all fields that parley knows, in the order in which they are written. A value
// that does not fit is left out, because another program may use the name for something else. If a
// signature makes the field matter, the check of that signature fails.
var messageFields = []messageField{
	{"from", func(w *frontmatter, m *Message) { w.text("from", m.From) }, nil},
	{"to", func(w *frontmatter, m *Message) { w.list("to", m.Names()) }, nil},
	{"type", func(w *frontmatter, m *Message) { w.text("type", string(m.Type)) }, nil},
	{"timestamp", func(w *frontmatter, m *Message) { w.plain("timestamp", m.Timestamp.UTC().Format(TimestampLayout)) }, nil},
	{"ref", func(w *frontmatter, m *Message) { w.text("ref", m.Ref) }, nil},
	textField("via", func(m *Message) *string { return &m.Via }),
	{"act", func(w *frontmatter, m *Message) {
		if m.Act != actOfBody(m.Type, m.Body) {
			w.text("act", string(m.Act))
		}
	}, one(func(m *Message, value string) { m.Act = ParseAct(value) })},
	textField("re", func(m *Message) *string { return &m.Re }),
	{"hops", func(w *frontmatter, m *Message) { w.count("hops", uint64(m.Hops)) }, one(func(m *Message, value string) {
		if n, err := strconv.Atoi(value); err == nil && n >= 0 {
			m.Hops = n
		}
	})},
	textField("because", func(m *Message) *string { return &m.Because }),
	{"host", func(w *frontmatter, m *Message) { w.text("host", m.Host.String()) }, one(func(m *Message, value string) { m.Host, _ = ParseName(value) })},
	textField("run", func(m *Message) *string { return &m.Run }),
	{"seq", func(w *frontmatter, m *Message) { w.count("seq", m.Seq) }, one(func(m *Message, value string) {
		if n, err := strconv.ParseUint(value, 10, 63); err == nil {
			m.Seq = n
		}
	})},
	textField("prev", func(m *Message) *string { return &m.Prev }),
	{"request", func(w *frontmatter, m *Message) { w.text("request", m.Request) }, one(func(m *Message, value string) {
		if CheckRequest(value) == nil {
			m.Request = value
		}
	})},
	textField("human", func(m *Message) *string { return &m.Human }),
	textField("hsig", func(m *Message) *string { return &m.Hsig }),
	{"unattended", func(w *frontmatter, m *Message) {
		if m.Unattended {
			w.text("unattended", unattended)
		}
	}, one(func(m *Message, value string) { m.Unattended = value == unattended })},
	{"chosen", func(w *frontmatter, m *Message) { w.list("chosen", formatChoices(m.Chosen)) }, func(m *Message, f field) { m.Chosen = parseChoices(f.values) }},
	{"", func(w *frontmatter, m *Message) {
		for _, f := range m.Extra {
			w.plain(Quote(f.Key), w.quote(f.Key, f.Value))
		}
	}, nil},
	textField("key", func(m *Message) *string { return &m.Key }),
	textField("sig", func(m *Message) *string { return &m.Sig }),
}

func textField(key string, at func(*Message) *string) messageField {
	return messageField{key, func(w *frontmatter, m *Message) { w.text(key, *at(m)) }, one(func(m *Message, value string) { *at(m) = value })}
}

// one reads a field that is no list.
func one(read func(m *Message, value string)) func(*Message, field) {
	return func(m *Message, f field) {
		if !f.list {
			read(m, f.values[0])
		}
	}
}

// knownField is the index of the field of that name, or -1 if parley does not know it.
func knownField(key string) int {
	return slices.IndexFunc(messageFields, func(f messageField) bool { return f.key == key && key != "" })
}

// MaxRequest is the longest that the id of a request may be, in bytes.
const MaxRequest = 64

var requestID = pattern.New(`^[A-Za-z0-9._:-]{1,64}$`)

// CheckRequest returns an error if `id` cannot be the id of a request.
func CheckRequest(id string) error {
	if !requestID.MatchString(id) {
		return fmt.Errorf("a request's id is 1 to %d letters, digits and . _ : -", MaxRequest)
	}
	return nil
}

// Choice pins one addressed agent to one instance: the n-th worker of a tier on a host (R6, R7). It
// is written "host/tier/n", or "agent=host/tier/n" if the message has several addressees.
type Choice struct {
	Agent string // empty if the message has one addressee
	Instance
}

// AnsweredPath is the message that `m` answers. `ok` is false if Re names none.
func (m *Message) AnsweredPath() (Path, bool) { return m.resolve(m.Re) }

// CausePath is the message because of which an agent wrote `m`. `ok` is false if Because names
// none.
func (m *Message) CausePath() (Path, bool) { return m.resolve(m.Because) }

// ReadPath is the message that the receipt m acknowledges.
func (m *Message) ReadPath() (Path, bool) {
	if m.Type != TypeRead {
		return Path{}, false
	}
	return m.resolve(m.Ref)
}

// resolve reads a reference as it stands in `m`: a path below the channel of `m`, or a path with
// its channel's id before it.
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

// Refer writes a reference to `p` for a message in `channel`: the path below the channel if `p` is
// in it, else the path with its channel's id before it.
func Refer(channel ChannelID, p Path) string {
	if p.Channel() == channel {
		return p.Rel()
	}
	return p.String()
}

// ToAll reports whether m is addressed to every participant.
func (m *Message) ToAll() bool {
	return slices.Contains(m.To, Address{Name: All})
}

// Names returns the addressees as they are written. It is never nil.
func (m *Message) Names() []string { return each.Of(m.To, Address.String) }

// ChosenFor is the instance that the sender chose for the addressed agent. `ok` is false if the
// sender chose none.
func (m *Message) ChosenFor(agent string) (Instance, bool) {
	for _, c := range m.Chosen {
		if c.Agent == agent || c.Agent == "" && len(m.To) == 1 {
			return c.Instance, true
		}
	}
	return Instance{}, false
}

// Hash is the SHA-256 of a file's bytes, in hex. It identifies the file; Prev holds such a hash.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// NormalBody is the form of body that a file can carry: without newlines at its
// end, because every file ends in exactly one.
func NormalBody(body string) string { return strings.TrimRight(body, "\n") }

// Author is who wrote the message. Some programs name the host too, as "name@host" or "host:name"
// (R5). A name of another form stays as it is.
func (m *Message) Author() Address {
	if !strings.ContainsAny(m.From, "@:") { // nearly all names
		return Address{Name: m.From}
	}
	a, err := ParseAddress(m.From)
	if err != nil {
		return Address{Name: m.From}
	}
	return a
}

package protocol

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// SubjectRoot is the first token of every subject.
const SubjectRoot = "parley"

// Headers that travel beside the bytes of a message or a letter.
const (
	HeaderPath = "Parley-Path"
	HeaderHost = "Parley-Host"
	HeaderRun  = "Parley-Run"
	HeaderSeq  = "Parley-Seq"
	HeaderKey  = "Parley-Key"
	HeaderTime = "Parley-Time"
	HeaderRe   = "Parley-Re"
	HeaderSig  = "Parley-Sig"
)

// Kind is the fourth token of a subject: what is carried.
type Kind string

// The kinds of subjects. Those up to KindReceipt carry messages, the others carry letters between
// nodes.
const (
	KindHey       Kind = "hey"
	KindWormhole  Kind = "wormhole"
	KindChannel   Kind = "channel"
	KindBroadcast Kind = "broadcast"
	KindReceipt   Kind = "receipt"
	KindPresence  Kind = "presence"
	KindHeard     Kind = "heard"
	KindWoken     Kind = "woken"
	KindHead      Kind = "head"
	KindBell      Kind = "bell"
	KindAsk       Kind = "ask"
)

// Message reports whether subjects of this kind carry messages.
func (k Kind) Message() bool {
	switch k {
	case KindHey, KindWormhole, KindChannel, KindBroadcast, KindReceipt:
		return true
	}
	return false
}

// Subjects makes and reads the subjects of one fleet. All of them are made
// here, next to their pattern:
//
//	parley.<fleet>.<sender>.hey.<agent>
//	parley.<fleet>.<sender>.wormhole.<host>.<agent>
//	parley.<fleet>.<sender>.channel.<uuid>
//	parley.<fleet>.<sender>.broadcast · receipt · presence · heard · woken · head · bell
//	parley.<fleet>.<sender>.ask.<host>.<what>
type Subjects struct{ Fleet Name }

// All is the pattern of everything the fleet says.
func (s Subjects) All() string { return SubjectRoot + "." + s.Fleet.String() + ".>" }

// From is the pattern of everything that `host` says. A host that is no hub may publish no other
// subject of the fleet. What else it may publish: package bus.
func (s Subjects) From(host Name) string { return s.join(host, ">") }

// Message is the one subject of `m`, whose Host must be set.
func (s Subjects) Message(m *Message) string {
	switch {
	case m.Type == TypeRead:
		return s.join(m.Host, string(KindReceipt))
	case m.ToAll():
		return s.join(m.Host, string(KindBroadcast))
	case len(m.To) != 1 || m.Act.HostWord():
		return s.join(m.Host, string(KindChannel), strings.ToLower(m.Path.Channel().String()))
	}
	to := m.To[0]
	host := to.Host
	if i, ok := m.ChosenFor(to.Name); ok && host == "" {
		host = i.Host.String()
	}
	if host == "" || host == m.Host.String() {
		return s.join(m.Host, string(KindHey), Token(to.Name))
	}
	return s.join(m.Host, string(KindWormhole), Token(host), Token(to.Name))
}

// Letter is the subject of a letter of the given kind that host sends to all.
func (s Subjects) Letter(host Name, kind Kind) string { return s.join(host, string(kind)) }

// Ask is the subject on which the host `from` asks the host `host` the question `what`.
func (s Subjects) Ask(from, host, what Name) string {
	return s.join(from, string(KindAsk), host.String(), what.String())
}

// AskPattern is the pattern of the subjects on which others ask `host` the question `what`.
func (s Subjects) AskPattern(host, what Name) string { return s.Ask("*", host, what) }

func (s Subjects) join(sender Name, tokens ...string) string {
	return strings.Join(append([]string{SubjectRoot, s.Fleet.String(), sender.String()}, tokens...), ".")
}

// tokenPattern is what a Name, a channel id and the hash of a foreign name have
// in common.
var tokenPattern = pattern.New(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Subject is a subject that was parsed.
type Subject struct {
	Sender Name
	Kind   Kind
	Rest   []string // the tokens after the kind
}

// Parse reads a subject of the fleet.
func (s Subjects) Parse(subject string) (Subject, error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) < 4 || tokens[0] != SubjectRoot || tokens[1] != s.Fleet.String() {
		return Subject{}, fmt.Errorf("%q is not a subject of the fleet %s", subject, s.Fleet)
	}
	sender, err := ParseName(tokens[2])
	if err != nil {
		return Subject{}, fmt.Errorf("subject %q: sender %w", subject, err)
	}
	kind, rest := Kind(tokens[3]), tokens[4:]
	if want, ok := restTokens(kind); !ok || len(rest) != want {
		return Subject{}, fmt.Errorf("%q is no subject that parley uses", subject)
	}
	for _, token := range rest {
		if !tokenPattern.MatchString(token) {
			return Subject{}, fmt.Errorf("subject %q: %q is no token that parley writes", subject, token)
		}
	}
	return Subject{Sender: sender, Kind: kind, Rest: rest}, nil
}

func restTokens(k Kind) (int, bool) {
	switch k {
	case KindBroadcast, KindReceipt, KindPresence, KindHeard, KindWoken, KindHead, KindBell:
		return 0, true
	case KindHey, KindChannel:
		return 1, true
	case KindWormhole, KindAsk:
		return 2, true
	}
	return 0, false
}

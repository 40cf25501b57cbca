// Package affair folds deeds into the values of affairs. A deed is a message whose words change
// what is agreed: a vote, a consent, a score. An affair is what deeds are about: a ballot, a topic,
// a party (DESIGN, section 10).
//
// An affair has a Kind. The Kind says which acts are its deeds and to which affair a deed belongs.
// Its Step makes the next value from a value and a deed. It is given the deeds in the order of the
// record and reads nothing else. So every host comes to the same value, in whatever order messages
// arrive.
package affair

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Standing is how far an author is known.
type Standing int

// The standings of deeds that count.
const (
	Signed    Standing = iota // signed with a key that was its host's, by a host that declares its author
	Unsigned                  // no host with a key declares its author
	BeforeKey                 // it stands before the first word by which a host declares its author
)

// Deed is a message of an affair. It must not be changed.
type Deed struct {
	*protocol.Message // the words are in Body
	Position
	Hash     string // hex SHA-256 of its file
	Standing Standing
	// Human says that the author is a human of the host that signed the deed, and that the host
	// knew the caller to be that human. Founder says that this host began the record.
	Human, Founder bool
	Hand           Hand // the key of the human whom the deed names
}

// Position is where a message stands in the order of the record.
type Position struct {
	Place time.Time
	Path  protocol.Path
}

// Before reports whether p stands before q.
func (p Position) Before(q Position) bool {
	if c := p.Place.Compare(q.Place); c != 0 {
		return c < 0
	}
	return p.Path.Compare(q.Path) < 0
}

// Kind is a kind of affair, whose values are of type V.
//
// A value is never changed: Step makes another one. So a value may be shared and kept. A step may
// take as long as copying the value, because values are small enough for people to oversee.
type Kind[V any] struct {
	Name string
	Acts []protocol.ActSpec // those of its deeds
	// Of names the affair to which a message with one of these acts belongs. It looks at that
	// message alone. `ok` is false if the message is a deed of no affair.
	Of func(m *protocol.Message) (name string, ok bool)
	// Hands says that humans decide the deeds of this kind with keys of their own. Then each deed
	// is given with its Hand. To find the Hand can mean to look at everything that the deed's host
	// wrote.
	Hands bool
	// Begin is the value of an affair before its first deed.
	Begin func(name string) V
	// Step is the value after a deed. The error says why the deed is void; then the value stays as
	// it is. A deed is void if the value lacks what the deed refers to.
	Step func(V, Deed) (V, error)
	// At is the value at a time, with what has run out by then. It is nil if time changes nothing.
	At func(V, time.Time) V
}

// ID names one affair among all.
type ID struct{ Kind, Name string }

// Any is a kind of affair with values of any type.
type Any interface {
	// Deeds are the acts of its deeds.
	Deeds() []protocol.Act
	// ID is the affair to which a message with one of these acts belongs.
	ID(m *protocol.Message) (id ID, ok bool)

	// Decides reports whether humans decide its deeds with keys of their own.
	Decides() bool

	begin(name string) any
	step(value any, d Deed) (any, error)
	at(value any, now time.Time) any
}

// Deeds are the acts of its deeds.
func (k *Kind[V]) Deeds() []protocol.Act {
	return each.Of(k.Acts, func(spec protocol.ActSpec) protocol.Act { return spec.Act })
}

// ID is the affair to which a message with one of these acts belongs.
func (k *Kind[V]) ID(m *protocol.Message) (ID, bool) {
	name, ok := k.Of(m)
	return ID{k.Name, name}, ok
}

// Decides reports whether humans decide its deeds with keys of their own.
func (k *Kind[V]) Decides() bool { return k.Hands }

func (k *Kind[V]) begin(name string) any { return k.Begin(name) }

func (k *Kind[V]) step(value any, d Deed) (any, error) { return k.Step(value.(V), d) }

func (k *Kind[V]) at(value any, now time.Time) any {
	if k.At == nil {
		return value
	}
	return k.At(value.(V), now)
}

// Step makes the value after a deed.
type Step[V any] func(v V, d Deed) (V, error)

// Said is the step of deeds with words of their own: `step` makes the value after a deed of the value
// before, the deed and its words. A deed whose words cannot be read is void.
func Said[V, W any](words protocol.WordAct[W], step func(V, Deed, W) (V, error)) Step[V] {
	return func(v V, d Deed) (V, error) {
		w, err := words.Parse(d.Body)
		if err != nil {
			return v, Malformed(err)
		}
		return step(v, d, w)
	}
}

// Malformed is why a deed whose words cannot be read is void.
func Malformed(err error) error {
	return refusal.New(refusal.Senseless, "", "it is malformed: %s", err)
}

// Changed is a list in which `change` has changed copies of the values for which `is` holds. The original
// list and its values stay as they are. If `is` holds for none, it is the same list.
func Changed[T any](list []*T, is func(*T) bool, change func(*T)) []*T {
	next := list
	for i, v := range list {
		if !is(v) {
			continue
		}
		if &next[0] == &list[0] {
			next = slices.Clone(list)
		}
		c := *v
		change(&c)
		next[i] = &c
	}
	return next
}

// Edited is Changed for one value.
func Edited[T any](list []*T, one *T, change func(*T)) []*T {
	return Changed(list, func(v *T) bool { return v == one }, change)
}

// Added is a list with more values. The original list stays as it is.
func Added[T any](list []T, more ...T) []T { return append(list[:len(list):len(list)], more...) }

package fleet

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// MaxWords is how long the words of a deed may be, in bytes. Longer words are not kept, so such a
// deed says nothing.
const MaxWords = 64 << 10

// affairs are the kinds of affairs that a state folds, and the folds of those that somebody has
// asked for.
type affairs struct {
	kinds []affair.Any
	acts  map[protocol.Act]affair.Any
	folds map[string]map[string]*affair.Fold // by kind and name
	turns map[string]int                     // how often a deed came to a place or left one, by kind
}

// maxFolds bounds how many affairs of a kind are kept folded. If there are more, all folds of that
// kind are dropped and made again when needed. Folds of other kinds stay: there are many runs, and
// they would push out topics, whose folds take long.
const maxFolds = 1024

func newAffairs(kinds []affair.Any) affairs {
	a := affairs{kinds: kinds, acts: map[protocol.Act]affair.Any{}, folds: map[string]map[string]*affair.Fold{}, turns: map[string]int{}}
	for _, k := range kinds {
		for _, act := range k.Deeds() {
			a.acts[act] = k
		}
	}
	return a
}

// form names the acts that are deeds, as part of the form of archives. Archives keep the words of
// deeds.
func form(kinds []affair.Any) string {
	var acts strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&acts, " %s", k.Deeds())
	}
	return archiveForm + acts.String() + "\n"
}

// keep gives an item its words and its affair, if it is a deed.
func (a *affairs) keep(it *Item, body string) {
	kind := a.acts[it.Act]
	if kind == nil || it.Type != protocol.TypeText {
		return
	}
	it.Body = body
	if len(body) > MaxWords {
		it.Body = ""
	}
	it.affair, _ = kind.ID(&it.Message)
}

// touched notes that an item came to a place in the order, or left it.
func (s *State) touched(it *Item, place time.Time) {
	s.turned[""]++
	s.turned[it.Path.Channel()]++
	switch {
	case it.Act.HostWord():
		s.keys.Moved()
	case it.Act == protocol.ActRunRetry:
		s.retries++
	}
	s.affairs.turns[it.affair.Kind]++
	s.dead.touched(it.affair)
	if f := s.affairs.folds[it.affair.Kind][it.affair.Name]; f != nil {
		f.Changed(affair.Position{Place: place, Path: it.Path})
	}
}

// fold is one affair, folded as far as it was asked for.
func (s *State) fold(kind affair.Any, id affair.ID) (*affair.Fold, deeds) {
	folds := s.affairs.folds[id.Kind]
	f := folds[id.Name]
	if f == nil {
		if folds == nil || len(folds) >= maxFolds {
			folds = map[string]*affair.Fold{}
			s.affairs.folds[id.Kind] = folds
		}
		f = affair.NewFold(kind, id.Name)
		folds[id.Name] = f
	}
	return f, deeds{s, id}
}

// Value is what an affair is at that time.
func Value[V any](s *State, kind *affair.Kind[V], name string, now time.Time) V {
	f, from := s.fold(kind, affair.ID{Kind: kind.Name, Name: name})
	return f.Value(from, now).(V)
}

// Void says why a deed does not count. It is nil if the deed counts. For a message that is a deed
// of no affair, it returns a refusal too.
func (s *State) Void(it *Item) error {
	kind := s.affairs.acts[it.Act]
	if kind == nil || it.affair == (affair.ID{}) {
		return refusal.New(refusal.Senseless, "", "%s is a deed of no affair", it.Path)
	}
	f, from := s.fold(kind, it.affair)
	return f.Void(from, it.position())
}

// Affairs are the names of the affairs of a kind that have deeds, sorted.
func (s *State) Affairs(kind string) []string {
	var names []string
	for list := range s.Ledger.archive.Names(listDeeds) {
		if name, ok := strings.CutPrefix(list, kind+" "); ok && s.hasDeed(affair.ID{Kind: kind, Name: name}) {
			names = append(names, name)
		}
	}
	for id, loose := range s.Ledger.deeds {
		if id.Kind == kind && len(loose.items) > 0 {
			names = append(names, id.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasAffair reports whether there is an affair of a kind and name that has deeds. To ask for the
// value instead would fold an affair for each channel of the record.
func (s *State) HasAffair(kind, name string) bool {
	return s.hasDeed(affair.ID{Kind: kind, Name: name})
}

// hasDeed reports whether an affair has a deed at all.
func (s *State) hasDeed(id affair.ID) bool {
	if loose := s.Ledger.deeds[id]; loose != nil && len(loose.items) > 0 {
		return true
	}
	for range s.Ledger.frozen(s.Ledger.listed(listDeeds, listName(id))) {
		return true
	}
	return false
}

type deeds struct {
	*State
	id affair.ID
}

func listName(id affair.ID) string { return id.Kind + " " + id.Name }

// DeedsOf are the deeds of an affair in the order of the record, with those that do not count.
func (s *State) DeedsOf(kind, name string) iter.Seq[*affair.Candidate] {
	return deeds{s, affair.ID{Kind: kind, Name: name}}.After(affair.Position{})
}

// After yields the deeds behind a position.
func (d deeds) After(p affair.Position) iter.Seq[*affair.Candidate] {
	at := &Item{File: keys.File{Message: protocol.Message{Path: p.Path}}, Place: p.Place}
	return func(yield func(*affair.Candidate) bool) {
		for it := range d.Ledger.deedsFrom(d.id, at) {
			if it.Path == p.Path && it.Place.Equal(p.Place) {
				continue
			}
			if !yield(d.candidate(it)) {
				return
			}
		}
	}
}

// candidate is a message in the form in which its affair is given it. A message without a valid
// signature counts if no host with a key declares its author, or if it stands before the first host
// did so (DESIGN, section 10).
func (s *State) candidate(it *Item) *affair.Candidate {
	c := &affair.Candidate{
		Deed:  affair.Deed{Message: &it.Message, Position: it.position(), Hash: it.Hash},
		Epoch: it.Host, Names: true, Sealed: it.Sealed && !s.Keys().Judge(&it.File).Refused(),
	}
	switch s.Signature(it) {
	case protocol.SignatureValid:
		c.Names = false
		ring := s.Keys()
		h, joined := ring.Host(it.Host)
		founder, _ := ring.Founder()
		c.Human = joined && !it.Unattended && h.EverHuman(it.From)
		c.Founder = it.Host == founder
		if s.affairs.acts[it.Act].Decides() {
			c.Hand = s.hand(h, it)
			c.Hand.Stray = s.Ledger.stray(it)
		}
		return c
	case protocol.SignatureRefused:
		c.Void = refusal.New(refusal.Forbidden, "", "its signature is refused: %s", s.Keys().Why(&it.File))
		return c
	}
	since := s.Talk.declaredSince(it.Author().Name, "")
	switch {
	case since == nil:
		c.Standing = affair.Unsigned
	case before(it, since):
		c.Standing = affair.BeforeKey
	default:
		c.Void = refusal.New(refusal.Forbidden, "", "%s is declared by a host whose key did not sign it", it.Author().Name)
	}
	return c
}

// hand is the key with which the human whom a deed names could have signed it.
func (s *State) hand(h *keys.Host, it *Item) affair.Hand {
	if it.Human == "" {
		return affair.Hand{}
	}
	key, ok := s.keys.HumanKeyFor(h, it.Human, &it.File)
	had := s.keys.HadKey(h, it.Human, &it.File)
	return affair.Hand{
		Here: !it.Unattended && h.EverHuman(it.Human), RecordID: s.anchor.RecordID, Key: key.Key, Open: key.Open,
		Had: had != keys.HadNone, Later: had == keys.HadLater, Contested: !ok && h.Contested(it.Human) != nil,
	}
}

// Do is a command of an affair.
type Do struct{ affair.Command }

func (c Do) decide(s *State, now time.Time) ([]Draft, error) {
	f, from := s.fold(c.Kind(), c.ID)
	deeds, err := c.Decide(f.Value(from, now), now)
	if err != nil {
		return nil, err
	}
	return each.Of(deeds, func(deed affair.Draft) Draft { return Draft{Message: deed.Message, Channel: deed.Channel} }), nil
}

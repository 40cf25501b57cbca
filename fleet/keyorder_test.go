package fleet

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// keyWords makes words of hosts about keys, in the order of their dates. Most of them make sense. A
// host may also use a key that it does not have, or speak of a key that nobody has. That has to be
// the same in every order too.
type keyWords struct {
	*rand.Rand
	t      *testing.T
	from   *State
	anchor keys.Anchor
	hosts  map[string]*testHost // by alias and key
	files  []testFile
	at     time.Time
}

func newKeyWords(t *testing.T, seed uint64) *keyWords {
	w := &keyWords{
		Rand: rand.New(rand.NewPCG(seed, 1)), t: t, hosts: map[string]*testHost{},
		from: New(keys.Anchor{RecordID: testRecord}), at: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC),
	}
	w.anchor = keys.Anchor{RecordID: testRecord}
	if w.IntN(4) > 0 {
		w.anchor.Founder = protocol.HostState{Host: "a", Key: w.holder("a", 0).public(t), Humans: []protocol.Name{"nat"}}
	}
	for range 4 + w.IntN(12) {
		w.word()
	}
	return w
}

// holder returns the host that has the nth key of `alias`.
func (w *keyWords) holder(alias string, nth int) *testHost {
	name := fmt.Sprint(alias, nth)
	if w.hosts[name] == nil {
		w.hosts[name] = newTestHost(w.t, alias, name)
	}
	return w.hosts[name]
}

// any returns a host with one of its keys, mostly an early one.
func (w *keyWords) any() *testHost {
	return w.holder([]string{"a", "b", "c"}[w.IntN(3)], min(w.IntN(4), w.IntN(4)))
}

func (w *keyWords) word() {
	by, of := w.any(), w.any()
	key := protocol.HostKey{Host: of.alias, Key: of.public(w.t)}
	d := Draft{}
	switch w.IntN(6) {
	case 0, 1:
		d = w.from.hostDraft(protocol.ActHostJoin, protocol.HostState{Host: by.alias, Key: by.public(w.t), Humans: []protocol.Name{"nat"}})
	case 2, 3:
		d = w.from.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: by.alias, Knows: []protocol.HostKey{key}})
	case 4:
		next := w.holder(by.alias.String(), w.IntN(4))
		if next == by {
			return
		}
		d = rotation(w.t, by, next, w.at.Add(time.Duration(w.IntN(5))*time.Second))
	case 5:
		r := protocol.Revocation{Host: by.alias, Revokes: key}
		if len(w.files) > 0 && w.IntN(2) == 0 {
			f := w.files[w.IntN(len(w.files))]
			if m, err := protocol.Decode(f.path, f.data); err == nil {
				r.Last = []protocol.RunEnd{{Run: m.Run, Seq: m.Seq, Hash: protocol.Hash(f.data)}}
			}
		}
		d = w.from.hostDraft(protocol.ActHostRevoke, r)
		d.Message.Human = "nat"
	}
	w.at = w.at.Add(time.Second)
	w.files = append(w.files, by.write(w.t, d, w.at, uint32(len(w.files))))
}

// histories compares two rings. It leaves out how often they have changed, what revocations leave
// in, and which aliases are looked at for a key. Too many such aliases do no harm.
func histories() cmp.Options {
	named := func(name string) func(cmp.Path) bool {
		return func(p cmp.Path) bool { return p.Last().String() == name }
	}
	return cmp.Options{
		cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.FilterPath(named(".version"), cmp.Ignore()),
		cmp.FilterPath(named(".left"), cmp.Ignore()),
		cmp.FilterPath(named(".aliases"), cmp.Ignore()),
		cmpopts.EquateEmpty(),
	}
}

// told returns all that a state says of signatures.
func told(s *State) []string {
	var lines []string
	for it := range s.Ledger.All() {
		lines = append(lines, fmt.Sprint(it.Path, " ", s.Signature(it), " ", s.Keys().Why(&it.File)))
	}
	slices.Sort(lines)
	return lines
}

// A host heard a rotation after a vouch for the key that the rotation names. It had another history
// of keys than a host that heard the rotation first. So it refused what others took.
func TestKeysAreTheSameInEveryOrder(t *testing.T) {
	for seed := range uint64(seeds(30)) {
		w := newKeyWords(t, seed)
		var first []string
		var ring *keys.Ring
		for range 6 {
			s := New(w.anchor)
			for _, f := range w.files {
				if _, err := s.Apply(f.path, f.data); err != nil {
					t.Fatal(err)
				}
			}
			got := told(s)
			if first == nil {
				first, ring = got, s.Keys()
			}
			if diff := cmp.Diff(ring, s.Keys(), histories()); diff != "" {
				t.Fatalf("seed %d: another order, another history of keys (-first +then):\n%s", seed, diff)
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Fatalf("seed %d: another order, another history (-first +then):\n%s", seed, diff)
			}
			w.Shuffle(len(w.files), func(i, j int) { w.files[i], w.files[j] = w.files[j], w.files[i] })
		}
	}
}

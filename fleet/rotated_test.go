package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// turned is a host that has changed its key, and a thief of the old one.
type turned struct {
	*robbery
	joined, rotated time.Time
	next            *testHost
	honest          []*Item // what the host wrote with both keys
}

// newTurned has the host change its key. If `bounded`, the rotation says which messages of the old
// key count, as far as the host knows them; `unknown` are files that it does not have.
func newTurned(t *testing.T, bounded bool, unknown ...int) *turned {
	r := &turned{robbery: newRobbery(t)}
	r.joined = r.at
	for range 2 {
		for range 2 { // two runs
			it, _ := r.say(r.b)
			r.honest = append(r.honest, it)
		}
		r.b.seq, r.b.run = 0, "0badcaf1"
	}
	fork := *r.b // the home was restored from a copy once
	it, _ := r.say(&fork)
	r.honest = append(r.honest, it)
	it, _ = r.say(r.b)
	r.honest = append(r.honest, it)
	var last []protocol.RunEnd
	if bounded {
		known := slices.Clone(r.files)
		for _, i := range unknown {
			known = slices.Delete(known, i, i+1)
		}
		last = foldedOf(t, r.anchor, known).Chains.Heads(r.of)
	}
	r.next = newTestHost(t, "b", "next")
	_, _ = r.write(r.b, rotation(t, r.b, r.next, r.at.Add(time.Hour), last...))
	r.rotated, r.next.prev, r.next.run = r.at, r.b.prev, "0badcaf2"
	it, _ = r.say(r.next)
	r.honest = append(r.honest, it)
	return r
}

// forged has somebody write a message of the host with a date of their choice.
func (r *turned) forged(by testHost, at time.Time) *Item {
	now := r.at
	r.at = at.Add(-500 * time.Millisecond)
	it, _ := r.say(&by)
	r.at = now
	return it
}

// lies are what a thief of a key dates back.
func (r *turned) lies() map[string]*Item {
	alone, forks, dangles, started := *r.thief, *r.thief, *r.thief, *r.thief
	forks.prev, dangles.prev = r.honest[0].Hash, strings.Repeat("5a", 32)
	started.prev, started.run, started.seq = r.honest[1].Hash, r.honest[1].Run, r.honest[1].Seq
	between := r.joined.Add(3 * time.Second)
	return map[string]*Item{
		"a run of its own": r.forged(alone, between), "a fork of the chain": r.forged(forks, between), "a hole before it": r.forged(dangles, between),
		"the run of another": r.forged(started, between), "in the overlap": r.forged(alone, r.rotated.Add(time.Minute)),
	}
}

// A key that its host had changed signed for ever: the thief dated what he wrote before the end of the
// key, before the host had joined or, with the new key, before that key was the host's.
func TestRotatedKeySignsNothingMore(t *testing.T) {
	for _, bounded := range []bool{true, false} {
		r := newTurned(t, bounded)
		lies := r.lies()
		never := map[string]*Item{"before its host joined": r.forged(*r.thief, r.joined.Add(-time.Hour)), "with a key before it was the host's": r.forged(*r.next, r.rotated.Add(-time.Second))}
		s := foldedOf(t, r.anchor, r.files)
		for i, it := range r.honest {
			if got := s.Signature(it); got != protocol.SignatureValid {
				t.Errorf("bounded %t: what the host wrote, number %d, is %s: %s", bounded, i, got, s.Keys().Why(&it.File))
			}
		}
		for what, it := range never {
			if got := s.Signature(it); got != protocol.SignatureRefused {
				t.Errorf("bounded %t: a message %s is %s", bounded, what, got)
			}
		}
		for what, it := range lies { // where an earlier version wrote the rotation, only dates bound the key
			if got := s.Signature(it); (got == protocol.SignatureRefused) != bounded {
				t.Errorf("bounded %t: a message with %s is %s", bounded, what, got)
			}
		}
		if refused := s.Flags()[FlagOldKey]; bounded && refused != len(lies)+len(never) || !bounded && refused != len(never) {
			t.Errorf("bounded %t: %d messages are flagged", bounded, refused)
		}
	}
}

// A thief of an old key dated another join of the host before its own, took away whom the host had
// declared, and so moved the time before which its key signs nothing.
func TestThiefOfAnOldKeyDatesNoJoin(t *testing.T) {
	r := newTurned(t, true)
	at := r.at
	r.at = r.joined.Add(-time.Hour)
	r.word(r.thief, protocol.ActHostJoin, protocol.HostState{Host: "b", Key: r.of.Key, Humans: []protocol.Name{"mallory"}})
	it, _ := r.say(r.thief)
	r.at = at
	s := foldedOf(t, r.anchor, r.files)
	h, _ := s.Keys().Host("b")
	if s.Signature(it) != protocol.SignatureRefused || s.Signature(r.honest[0]) != protocol.SignatureValid || !slices.Equal(h.Humans, []protocol.Name{"eve"}) {
		t.Errorf("the lie is %s, what the host wrote %s, and its humans are %v", s.Signature(it), s.Signature(r.honest[0]), h.Humans)
	}
}

// While a message of the chain that led to a rotation is missing, those before it count: a rotation
// accuses nobody. Once it is here, what is no part of the chain counts no more.
func TestHoleBeforeARotationTakesNothingAway(t *testing.T) {
	r := newTurned(t, true)
	lie := r.lies()["a run of its own"]
	hole := slices.IndexFunc(r.files, func(f testFile) bool { return f.path == r.honest[3].Path })
	missing := r.files[hole]
	s := foldedOf(t, r.anchor, slices.Delete(slices.Clone(r.files), hole, hole+1))
	if s.Signature(r.honest[0]) != protocol.SignatureValid || s.Signature(lie) != protocol.SignatureValid || len(s.Chains.Awaited(9)) == 0 {
		t.Errorf("with a hole, what came before is %s, a lie %s, and %d messages are awaited", s.Signature(r.honest[0]), s.Signature(lie), len(s.Chains.Awaited(9)))
	}
	fold(t, s, []testFile{missing})
	if s.Signature(r.honest[0]) != protocol.SignatureValid || s.Signature(lie) != protocol.SignatureRefused {
		t.Errorf("without it, what came before is %s, a lie %s", s.Signature(r.honest[0]), s.Signature(lie))
	}

	// A message that the host had lost itself when it changed its key.
	r = newTurned(t, true, hole)
	s = foldedOf(t, r.anchor, slices.Delete(slices.Clone(r.files), hole, hole+1))
	for _, it := range slices.Concat(r.honest[:3], r.honest[4:]) {
		if got := s.Signature(it); got != protocol.SignatureValid {
			t.Errorf("what the host wrote is %s", got)
		}
	}
	if h, _ := s.Keys().Host("b"); h.Key != r.next.public(t) {
		t.Error("the host has another key")
	}
}

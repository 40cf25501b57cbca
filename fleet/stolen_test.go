package fleet

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// robbery is a host b and the founder a. Somebody else has the key of b too.
type robbery struct {
	*testing.T
	anchor keys.Anchor
	b      *testHost
	thief  *testHost // the same key, in a run of its own
	of     protocol.HostKey
	files  []testFile
	at     time.Time
}

func newRobbery(t *testing.T) *robbery {
	a, b, thief := newTestHost(t, "a", "a"), newTestHost(t, "b", "b"), newTestHost(t, "b", "b")
	thief.run = "0badbad0"
	r := &robbery{T: t, b: b, thief: thief, of: protocol.HostKey{Host: "b", Key: b.public(t)}, at: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC),
		anchor: keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: a.public(t), Humans: []protocol.Name{"nat"}}}}
	for _, h := range []*testHost{a, b} {
		r.word(h, protocol.ActHostJoin, protocol.HostState{Host: h.alias, Key: h.public(t), Humans: []protocol.Name{"eve"}})
	}
	r.word(a, protocol.ActHostVouch, protocol.Vouch{Host: "a", Knows: []protocol.HostKey{r.of}})
	return r
}

func (r *robbery) write(h *testHost, d Draft) (*Item, protocol.RunEnd) {
	r.at = r.at.Add(time.Second)
	f := h.write(r, d, r.at, uint32(len(r.files)))
	r.files = append(r.files, f)
	it := New(r.anchor).Examine(f.path, f.data).item
	return it, protocol.RunEnd{Run: it.Run, Seq: it.Seq, Hash: it.Hash}
}

func (r *robbery) word(h *testHost, act protocol.Act, w protocol.HostWord) protocol.RunEnd {
	_, end := r.write(h, New(r.anchor).hostDraft(act, w))
	return end
}

func (r *robbery) say(h *testHost) (*Item, protocol.RunEnd) {
	return r.write(h, Draft{Channel: protocol.DeriveChannel(testRecord, "eve", "nat"),
		Message: protocol.Message{From: "eve", To: []protocol.Address{{Name: "nat"}}, Type: protocol.TypeText, Body: "hi"}})
}

func (r *robbery) revoke(h *testHost, last ...protocol.RunEnd) protocol.RunEnd {
	return r.word(h, protocol.ActHostRevoke, protocol.Revocation{Host: "b", Revokes: r.of, Last: last})
}

// A thief of a key softened the revocation by which its host had ended the key. He dated a
// revocation of his own before it, which left his messages in and the host's revocation out.
func TestThiefCannotSoftenARevocation(t *testing.T) {
	for dated := range keys.MaxRevocations + 2 {
		t.Run(fmt.Sprint(dated), func(t *testing.T) {
			r := newRobbery(t)
			_, last := r.say(r.b)
			stolen, end := r.say(r.thief)
			r.revoke(r.b, last)
			r.at = r.at.Add(-time.Hour)
			for range dated {
				r.revoke(r.thief, last, end)
			}
			s := foldedOf(t, r.anchor, r.files)
			if h, _ := s.Keys().Host("b"); s.Signature(stolen) != protocol.SignatureRefused || !h.Out() {
				t.Errorf("the thief's message is %s, the host out: %t", s.Signature(stolen), h.Out())
			}
		})
	}
}

// A thief gave the host that had ended its key another key, and spoke as the host again.
func TestThiefCannotBringAHostBack(t *testing.T) {
	for dated := range keys.MaxRevocations + 2 {
		t.Run(fmt.Sprint(dated), func(t *testing.T) {
			r := newRobbery(t)
			_, last := r.say(r.b)
			r.revoke(r.b, last)
			r.at = r.at.Add(-time.Hour)
			next := newTestHost(t, "b", "next")
			_, turn := r.write(r.thief, rotation(t, r.thief, next, r.at.Add(time.Hour)))
			for range dated {
				r.revoke(r.thief, last, turn)
			}
			s := foldedOf(t, r.anchor, r.files)
			if h, _ := s.Keys().Host("b"); h.Key != r.of.Key || !h.Out() {
				t.Errorf("the host has the key %s, out: %t", h.Key, h.Out())
			}
		})
	}
}

// What the last key said of an earlier one counted, although the revocation of the last key left it
// out. So a thief of the last key could end all that the host had ever said.
func TestRevokedKeyRevokesNothing(t *testing.T) {
	r := newRobbery(t)
	said, _ := r.say(r.b)
	next, thief := newTestHost(t, "b", "next"), newTestHost(t, "b", "next")
	_, _ = r.write(r.b, rotation(t, r.b, next, r.at.Add(time.Hour)))
	next.prev, next.run, thief.prev, thief.run = r.b.prev, "0badcaf2", r.b.prev, "0badbad2"
	_, last := r.say(next)
	r.word(next, protocol.ActHostRevoke, protocol.Revocation{Host: "b", Revokes: protocol.HostKey{Host: "b", Key: next.public(t)}, Last: []protocol.RunEnd{last}})
	r.at = r.at.Add(-time.Minute)
	r.revoke(thief)
	s := foldedOf(t, r.anchor, r.files)
	if got := s.Signature(said); got != protocol.SignatureValid {
		t.Errorf("what the host said before is %s", got)
	}
}

// admitted reports which of `files` the bus's door takes if they come together.
func admitted(s *State, files ...testFile) (all []bool) {
	var examined []Examined
	for _, f := range files {
		examined = append(examined, s.Examine(f.path, f.data))
	}
	for _, err := range s.Admits(examined) {
		all = append(all, err == nil)
	}
	return all
}

// A message that a revocation leaves in was refused if another message that counts also went on
// from it, in another run. If the last word of a revoked key was a revocation, what the key had
// written before it was let in because of that.
func TestDoorLetsInWhatARevocationLeavesIn(t *testing.T) {
	r := newRobbery(t)
	said := len(r.files)
	r.say(r.b)
	r.say(r.b)
	_, end := r.say(r.b)
	r.at = r.at.Add(-1500 * time.Millisecond) // between the second message and the third
	r.thief.prev, r.thief.seq = New(r.anchor).Examine(r.files[said+1].path, r.files[said+1].data).item.Hash, 4
	_, other := r.say(r.thief)
	r.at = r.at.Add(time.Hour)
	for range 2 {
		r.say(r.thief)
	}
	late := r.files[len(r.files)-2:]
	r.revoke(r.thief, end, other)
	late = append(late, r.files[len(r.files)-1])
	s := foldedOf(t, r.anchor, append(r.files[:said:said], late[2]))
	if got := admitted(s, r.files[said:said+4]...); !slices.Equal(got, []bool{true, true, true, true}) {
		t.Errorf("of what is left in %v is let in", got)
	}
	if got := admitted(s, late...); !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("of the revocation and what stands before it %v is let in", got)
	}
}

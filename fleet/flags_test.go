package fleet

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// A key that is used in two places forks its host's chain: that is counted, in
// whatever order the messages come and wherever they lie.
func TestForkIsCounted(t *testing.T) {
	h := newTestHost(t, "white", "white")
	join := h.write(t, New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostJoin, protocol.HostState{
		Host: "white", Key: h.public(t), Humans: []protocol.Name{"nat"}}), time.Unix(1e9, 0), 0)
	twin := *h
	twin.run = "0badcafd"
	say := func(body string) Draft {
		return Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: body},
			Channel: protocol.DeriveChannel(testRecord, "a", "b")}
	}
	files := []testFile{join,
		h.write(t, say("here"), time.Unix(1e9+1, 0), 1), twin.write(t, say("there"), time.Unix(1e9+2, 0), 2),
		h.write(t, say("here again"), time.Unix(1e9+3, 0), 3), twin.write(t, say("there again"), time.Unix(1e9+4, 0), 4),
	}
	r := rand.New(rand.NewPCG(1, 4))
	for range 20 {
		if got := foldedIcily(t, keys.Anchor{RecordID: testRecord}, files, r).Flags(); len(got) != 1 || got[FlagFork] != 1 {
			t.Fatalf("flags %v, want one fork", got)
		}
		r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	}
}

// A message that claims the number of another one is counted too, although it follows
// another message or none.
func TestOneNumberForTwoMessagesIsCounted(t *testing.T) {
	h := newTestHost(t, "white", "white")
	join := h.write(t, New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostJoin, protocol.HostState{
		Host: "white", Key: h.public(t), Humans: []protocol.Name{"nat"}}), time.Unix(1e9, 0), 0)
	thief := *h
	thief.prev, thief.seq = "", 1
	say := func(body string) Draft {
		return Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: body},
			Channel: protocol.DeriveChannel(testRecord, "a", "b")}
	}
	files := []testFile{join,
		h.write(t, say("one"), time.Unix(1e9+1, 0), 1), h.write(t, say("two"), time.Unix(1e9+2, 0), 2),
		thief.write(t, say("another two"), time.Unix(1e9+3, 0), 3),
	}
	r := rand.New(rand.NewPCG(2, 4))
	for range 20 {
		if got := foldedIcily(t, keys.Anchor{RecordID: testRecord}, files, r).Flags(); len(got) != 1 || got[FlagFork] != 1 {
			t.Fatalf("flags %v, want one fork", got)
		}
		r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	}
}

// A signed message that is copied to another channel or path is refused there.
func TestReplayIsRefused(t *testing.T) {
	h := newTestHost(t, "white", "white")
	f := h.write(t, Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: "yes"},
		Channel: protocol.DeriveChannel(testRecord, "a", "b")}, time.Unix(1e9, 0), 0)
	s := New(keys.Anchor{RecordID: testRecord})
	fold(t, s, []testFile{f})
	for _, to := range []protocol.Path{
		protocol.NewPath(protocol.DeriveChannel(testRecord, "b", "c"), time.Unix(1e9, 0), 0), protocol.NewPath(f.path.Channel(), time.Unix(1e9, 0), 1),
	} {
		var refusal *keys.RefusedError
		if _, err := s.Apply(to, f.data); !errors.As(err, &refusal) {
			t.Errorf("at %s: %v", to, err)
		}
	}
	if from, ok := s.Ledger.Original(protocol.Hash(f.data)); !ok || from != f.path {
		t.Errorf("the original is %s, %t", from, ok)
	}
}

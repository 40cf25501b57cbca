package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// A person who narrows a revocation once more than counts is told so, instead of
// that it is done.
func TestRevocationThatWouldNotCountIsRefused(t *testing.T) {
	a, b := newTestHost(t, "a", "a"), newTestHost(t, "b", "b")
	s := New(keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: a.public(t), Humans: []protocol.Name{"nat"}}})
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	for i, h := range []*testHost{a, b} {
		says := protocol.HostState{Host: h.alias, Key: h.public(t), Humans: []protocol.Name{"nat"}}
		fold(t, s, []testFile{h.write(t, s.hostDraft(protocol.ActHostJoin, says), at, uint32(i))})
	}
	c := Revoke{By: "a", Human: "nat", Of: protocol.HostKey{Host: "b", Key: b.public(t)}}
	for i := range keys.MaxRevocations {
		drafts, err := s.Decide(c, at)
		if err != nil {
			t.Fatalf("revocation %d: %v", i, err)
		}
		at = at.Add(time.Second)
		fold(t, s, []testFile{a.write(t, drafts[0], at, uint32(i))})
	}
	if _, err := s.Decide(c, at); !errors.As(err, new(*Refusal)) {
		t.Errorf("one more: %v, want it to be refused", err)
	}
}

package inquiry

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// A human is asked about a lost host until the gate is in the record. It prevents: a gate that
// could not be written, as while the disk was full, is never tried again, and the inquiry waits
// forever.
func TestLostHostIsLookedForUntilSomebodyWasAsked(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	live := false
	q := New(Options{
		Host: "hub", Now: func() time.Time { return now },
		Seen:    func(protocol.Name) (time.Time, bool) { return now.Add(-lostAfter), live },
		StuckAt: func(protocol.Name) []protocol.Stuck { return nil },
	})
	given := protocol.NewPath("c0ffee", now, 0)
	m := &inquiries.Member{Perspective: "Cost", Agent: protocol.Address{Name: "lens", Host: "left"}, Attempt: 1, Given: given}
	v := inquiries.Inquiry{State: inquiries.Await, Members: []*inquiries.Member{m}}
	asked := map[string]bool{}
	for range 2 { // the gate of the first look was not written
		if q.lostMember(v, asked) != m {
			t.Fatal("a member whose host is lost is not asked about")
		}
	}
	asked[runOf(v, m)] = true
	if q.lostMember(v, asked) != nil {
		t.Error("somebody is asked twice about one loss")
	}
	live = true
	if q.lostMember(v, asked) != nil {
		t.Error("a host that is there is lost")
	}
	live = false
	if q.lostMember(v, asked) != m {
		t.Error("nobody is asked about a host that is lost again")
	}
}

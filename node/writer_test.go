package node

import (
	"math"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// A host's paths strictly rise whatever its clock does, so that its chain has
// one order.
func TestPathsStrictlyRise(t *testing.T) {
	channel := protocol.SystemChannel("record")
	clock := time.Date(2026, 5, 23, 23, 59, 59, 998_000_000, time.UTC)
	h := head{suffix: math.MaxUint32, last: clock}
	var last protocol.Path
	for i := range 20_000 {
		switch i % 1000 {
		case 100:
			clock = clock.Add(3 * time.Millisecond)
		case 200:
			clock = clock.Add(-time.Hour)
		}
		p, at := h.next(channel, clock)
		if !p.Strict() || !p.Time().Equal(at) {
			t.Fatalf("path %s is not of the strict form or does not state its time %s", p, at)
		}
		if p.Compare(last) <= 0 {
			t.Fatalf("path %d is %s, which does not follow %s", i, p, last)
		}
		if at.Before(clock) {
			t.Fatalf("path %s is before the clock %s", p, clock)
		}
		last = p
	}
	if h.seq != 20_000 {
		t.Errorf("seq is %d after 20000 messages", h.seq)
	}
}

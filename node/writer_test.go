package node

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
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

// What one fsync serves is folded in one look at the state; each request gets its own
// messages back, also beside one that is refused.
func TestABatchIsPublishedAtOnceAndEachRequestGetsItsOwn(t *testing.T) {
	var published [][]written
	w := &writer{writerOptions: writerOptions{publish: func(ws []written) {
		published = append(published, ws)
		for i := range ws {
			ws[i].item = &fleet.Item{}
		}
	}}}
	request := func(bodies ...string) *writing {
		r := &writing{done: make(chan struct{})}
		for _, body := range bodies {
			r.written = append(r.written, written{message: &protocol.Message{Body: body}})
		}
		return r
	}
	refused := request("x")
	refused.err = errors.New("too long")
	batch := []*writing{request("a"), refused, request("b", "c"), request("d")}
	w.tell(batch)
	if len(published) != 1 || len(published[0]) != 4 {
		t.Fatalf("published %d times, want all four messages at once", len(published))
	}
	for i, want := range []string{"a", "", "bc", "d"} {
		<-batch[i].done
		got := ""
		for _, each := range batch[i].written {
			if each.item != nil {
				got += each.message.Body
			}
		}
		if got != want {
			t.Errorf("request %d got %q back as stored, want %q", i, got, want)
		}
	}
}

package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// One small message could make a thousand hosts that nobody ever saw.
func TestVouchMakesNoHostThatNeverJoined(t *testing.T) {
	a, b := newTestHost(t, "a", "a"), newTestHost(t, "b", "b")
	s := New(Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: a.public(t)}})
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	knows := []protocol.HostKey{{Host: "b", Key: b.public(t)}}
	for i := range protocol.MaxVouched - 1 {
		knows = append(knows, protocol.HostKey{Host: protocol.Name(fmt.Sprint("ghost", i)), Key: b.public(t)})
	}
	fold(t, s, []testFile{a.write(t, s.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: "a", Knows: knows}), at, 0)})
	if len(s.ring.hosts) != 1 {
		t.Errorf("%d hosts are known of, want the founder alone", len(s.ring.hosts))
	}
	join := protocol.HostState{Host: "b", Key: b.public(t)}
	fold(t, s, []testFile{b.write(t, s.hostDraft(protocol.ActHostJoin, join), at.Add(time.Second), 1)})
	if h, joined := s.Host("b"); !joined || h.rank != 1 {
		t.Errorf("b is not ranked though a vouched for it and it has joined: %+v", h)
	}
}

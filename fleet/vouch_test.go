package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// However many hosts join at once, each message that vouches for them is one that any
// host may write. It prevents: a host with a small message_limit that vouches for nobody
// any more, because somebody has pushed hundreds of joins.
func TestVouchesFitIntoMessages(t *testing.T) {
	s := New(keys.Anchor{RecordID: testRecord})
	c := Vouch{Host: "a", Knows: make([]protocol.HostKey, 1001)}
	for i := range c.Knows {
		c.Knows[i] = protocol.HostKey{Host: protocol.Name(fmt.Sprintf("%064d", i)), Key: strings.Repeat("U", 56)}
	}
	drafts, err := s.Decide(c, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, d := range drafts {
		named += strings.Count(d.Message.Body, "\nknows: ")
		if size := len(d.Message.Body); size > protocol.MinMessageLimit-2<<10 {
			t.Errorf("a message has %d bytes without its frontmatter", size)
		}
	}
	if named != len(c.Knows) {
		t.Errorf("%d keys are vouched for, want %d", named, len(c.Knows))
	}
}

// One small message could make a thousand hosts that nobody ever saw.
func TestVouchMakesNoHostThatNeverJoined(t *testing.T) {
	a, b := newTestHost(t, "a", "a"), newTestHost(t, "b", "b")
	s := New(keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: a.public(t)}})
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	knows := []protocol.HostKey{{Host: "b", Key: b.public(t)}}
	for i := range protocol.MaxVouched - 1 {
		knows = append(knows, protocol.HostKey{Host: protocol.Name(fmt.Sprint("ghost", i)), Key: b.public(t)})
	}
	fold(t, s, []testFile{a.write(t, s.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: "a", Knows: knows}), at, 0)})
	if ghost, held := s.Keys().HostOfKey(b.public(t), at); held {
		t.Errorf("%s is known of, want the founder alone", ghost)
	}
	join := protocol.HostState{Host: "b", Key: b.public(t)}
	fold(t, s, []testFile{b.write(t, s.hostDraft(protocol.ActHostJoin, join), at.Add(time.Second), 1)})
	if _, joined := s.Keys().Host("b"); !joined || len(s.Keys().Unvouched("a")) > 0 {
		t.Errorf("b is not ranked though a vouched for it and it has joined: %+v", s.Keys().AllHosts())
	}
}

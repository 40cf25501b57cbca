package fleet

import (
	"reflect"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// What this host signed itself is looked at without checking the signature again, and
// is the same as if it had been checked.
func TestOwnFilesAreExaminedAlike(t *testing.T) {
	h, s := newTestHost(t, "white", "white"), New(keys.Anchor{RecordID: testRecord})
	join := s.hostDraft(protocol.ActHostJoin, protocol.HostState{Host: "white", Key: h.public(t), Humans: []protocol.Name{"nat"}})
	say := Draft{
		Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: "AGREE | word"},
		Channel: protocol.DeriveChannel(testRecord, "a", "b")}
	for i, draft := range []Draft{join, say} {
		f := h.write(t, draft, time.Unix(1e9+int64(i), 0), uint32(i))
		if own, other := s.ExamineOwn(f.path, f.data), s.Examine(f.path, f.data); !reflect.DeepEqual(own, other) || own.Signed() == nil {
			t.Errorf("it is %+v, want %+v", own, other)
		}
	}
	if e := s.ExamineOwn(protocol.Path{}, []byte("garbage")); e.Err() == nil {
		t.Error("garbage is a message")
	}
}

package fleet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// decided is a Command that decides what it holds.
type decided []Draft

func (d decided) decide(*State, time.Time) ([]Draft, error) { return append([]Draft(nil), d...), nil }

// What an agent sends on its own started again at no hops, so that two agents that wrote
// to each other never stopped.
func TestCalled(t *testing.T) {
	s := New(keys.Anchor{RecordID: testRecord})
	here, elsewhere := protocol.DeriveChannel(testRecord, "a", "b"), protocol.DeriveChannel(testRecord, "c")
	cause := &Item{File: keys.File{Message: protocol.Message{
		Path: protocol.NewPath(here, time.Unix(1_800_000_000, 0).UTC(), 1), From: "a", To: []protocol.Address{{Name: "b"}}, Type: protocol.TypeText, Hops: 3}}}
	s.Ledger.items[cause.Path] = cause
	text := func(hops int) Draft {
		return Draft{Channel: here, Message: protocol.Message{Type: protocol.TypeText, Hops: hops}}
	}
	receipt := Draft{Channel: here, Message: protocol.Message{Type: protocol.TypeRead}}
	away := text(0)
	away.Channel = elsewhere
	drafts, err := s.Decide(Called{Command: decided{text(0), text(9), receipt, away}, Because: cause.Path, Unattended: true}, time.Unix(1_800_000_001, 0))
	if err != nil {
		t.Fatal(err)
	}
	type mark struct {
		Because    string
		Hops       int
		Unattended bool
	}
	var got []mark
	for _, d := range drafts {
		got = append(got, mark{d.Message.Because, d.Message.Hops, d.Message.Unattended})
	}
	want := []mark{{cause.Path.Rel(), 4, true}, {cause.Path.Rel(), 9, true}, {"", 0, true}, {cause.Path.String(), 4, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marked (-want +got):\n%s", diff)
	}
	unknown := protocol.NewPath(elsewhere, time.Unix(1, 0).UTC(), 1)
	if drafts, err := s.Decide(Called{Command: decided{text(2)}, Because: unknown}, time.Now()); err != nil || drafts[0].Message.Hops != 2 || drafts[0].Message.Because != "" {
		t.Errorf("because of a message that is not here: %+v, %v", drafts, err)
	}
}

// A node that started from its archive forgot why agents had written.
func TestArchivedCause(t *testing.T) {
	channel := protocol.DeriveChannel(testRecord, "a", "b")
	for _, because := range []string{"", "2026/05/23/190000000Z-b2c3d4e5.md", "0768faa4-c02c-4f6e-82df-7cfc40e377d8/2026/05/23/190000000Z-b2c3d4e5.md", "nonsense"} {
		it := &Item{File: keys.File{Hash: protocol.Hash(nil), Message: protocol.Message{
			Path: protocol.NewPath(channel, time.Unix(1_800_000_000, 0).UTC(), 7), Timestamp: time.Unix(1_800_000_000, 0).UTC(),
			Type: protocol.TypeText, Because: because, Unattended: because != "", Request: "after it"}}}
		got := thawed(t, it)
		if got.Because != because || got.Unattended != it.Unattended || got.Request != it.Request {
			t.Errorf("%q is read as %q, unattended %v, request %q", because, got.Because, got.Unattended, got.Request)
		}
	}
}

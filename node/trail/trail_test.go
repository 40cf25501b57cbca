package trail

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/protocol"
)

var began = time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)

func pathOf(n int) protocol.Path {
	return protocol.NewPath("adfe0356-0f71-49a9-80a0-fb76883cd974", began, uint32(n))
}

func TestStepsAreTold(t *testing.T) {
	now := began
	tr := New(func() time.Time { return now })
	tr.Note([]protocol.Path{pathOf(1), pathOf(2)}, "came", "bus")
	now = now.Add(time.Second)
	tr.NoteOf(pathOf(1), "queued", "mawjs")
	want := []protocol.TraceStep{{Time: began, Step: "came", By: "bus"}, {Time: now, Step: "queued", Agent: "mawjs"}}
	if diff := cmp.Diff(want, tr.Of(pathOf(1))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := tr.Of(pathOf(3)); len(got) != 0 {
		t.Errorf("of a message that did not come: %v", got)
	}
}

// A node that runs for months remembers no more than a node that runs for a day.
func TestTheOldestAreForgotten(t *testing.T) {
	tr := New(time.Now)
	tr.most = 10
	var many []protocol.Path
	for n := range 35 {
		many = append(many, pathOf(n))
		tr.Note(many[n:], "stored", "own")
		tr.Note(many[n:], "recorded", "")
	}
	for n, p := range many {
		if got, want := len(tr.Of(p)), map[bool]int{true: 2, false: 0}[n >= 25]; got != want {
			t.Errorf("of message %d: %d steps, want %d", n, got, want)
		}
	}
	tr.Note(many, "pushed", "")
	if len(tr.steps) != 10 || len(tr.order) != 10 || len(tr.Of(pathOf(34))) == 0 {
		t.Errorf("%d messages in an order of %d", len(tr.steps), len(tr.order))
	}
	for range 2 * mostSteps {
		tr.Note(many[34:], "heard", "white")
	}
	if got := len(tr.Of(pathOf(34))); got != mostSteps {
		t.Errorf("%d steps of one message", got)
	}
}

// A host that tells of very many messages has none forgotten that is here. It prevents: one host
// empties the traces of all others.
func TestWhatOthersTellTakesNoRoom(t *testing.T) {
	tr := New(time.Now)
	tr.most = 10
	var many []protocol.Path
	for n := range 50 {
		many = append(many, pathOf(n))
	}
	tr.Note(many[:10], "came", "bus")
	tr.NoteTold(many, "heard", "eve")
	for _, p := range many[:10] {
		if got := tr.Of(p); len(got) != 2 || got[0].Step != "came" {
			t.Errorf("of %s: %v", p, got)
		}
	}
	if len(tr.Of(many[44])) != 0 || len(tr.steps) != 10 {
		t.Errorf("%d messages are remembered", len(tr.steps))
	}
}

func TestManyNoteAtOnce(t *testing.T) {
	tr := New(time.Now)
	tr.most = 20
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for n := range 100 {
				tr.Note([]protocol.Path{pathOf(100*g + n)}, "stored", "own")
				tr.Of(pathOf(n))
			}
		})
	}
	all.Wait()
	if len(tr.steps) != 20 {
		t.Errorf("%d are remembered", len(tr.steps))
	}
}

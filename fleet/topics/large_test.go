package topics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

// hand is a topic into which one of the two writes by hand.
type hand struct {
	*testing.T
	value Topic
	n     uint32
}

func (h *hand) write(act protocol.Act, body string) {
	h.Helper()
	const record = "0123456789abcdef0123456789abcdef01234567"
	channel := protocol.TopicChannel(record, "skills", "mawjs", "tmux")
	h.n++
	at := time.Date(2026, 4, 15, 10, 0, 0, 0, time.UTC).Add(time.Duration(h.n) * time.Second)
	m := &protocol.Message{
		From: "mawjs", To: []protocol.Address{{Name: "skills"}}, Type: protocol.TypeText, Act: act, Body: body, Timestamp: at,
		Path: protocol.NewPath(channel, at, h.n),
	}
	next, err := Kind(record).Step(h.value, affair.Deed{Message: m, Position: affair.Position{Place: at, Path: m.Path}, Standing: affair.Unsigned})
	if err != nil {
		h.Fatalf("%.80q: %v", body, err)
	}
	h.value = next
}

// Failure prevented: someone with a clone states the labels that are to come, and each item
// after them looks for a free one through all of them: some thousand kept every node of the
// fleet busy for minutes, at each start.
func TestLabelsFarAheadCostNothing(t *testing.T) {
	h := &hand{T: t}
	h.write(protocol.ActTopic, "TOPIC | from: mawjs | with: skills | topic: tmux")
	const n = 1500
	for i := range n {
		h.write(protocol.ActAgree, fmt.Sprintf("AGREE | from: mawjs\nITEM: [A%d] ahead %[1]d", n+1+i))
	}
	for i := range n {
		h.write(protocol.ActAgree, fmt.Sprintf("AGREE | from: mawjs\nITEM: in order %d", i))
	}
	if got, want := h.value.Items[len(h.value.Items)-1].Label, protocol.Label(fmt.Sprintf("A%d", 3*n)); got != want {
		t.Errorf("the last item is %s, want %s", got, want)
	}
}

// Failure prevented: one item with a text near the limit of messages, or an anchor, ends all
// checks of its topic: a check that quotes it is larger than a message may be.
func TestLargeTextsDoNotEndChecks(t *testing.T) {
	h := &hand{T: t}
	h.write(protocol.ActTopic, "TOPIC | from: mawjs | with: skills | topic: tmux\nANCHOR: "+strings.Repeat("a", 100_000))
	for range protocol.MaxClaims + 1 {
		h.write(protocol.ActAgree, "AGREE | from: mawjs\nITEM: "+strings.Repeat("ไทย ", 3_000))
	}
	claims := h.value.Claims()
	if len(claims) != protocol.MaxClaims {
		t.Fatalf("%d claims", len(claims))
	}
	body := protocol.CheckSync.Format(protocol.SyncCheck{Claims: claims})
	if len(body) > protocol.MessageLimit-protocol.MaxFrontmatter {
		t.Errorf("the check has %d bytes", len(body))
	}
	h.write(protocol.ActSyncCheck, body)
	for i, claim := range h.value.Checks[0].Claims {
		if claim.Item != h.value.Items[i].Path {
			t.Fatalf("claim %d is of %v, want %s", i, claim.Item, h.value.Items[i].Path)
		}
	}
}

// The words of a text are compared without making them.
func FuzzSays(f *testing.F) {
	f.Add("Heartbeat keys: PROGRESS/STUCK", "heartbeat keys progress stuck")
	f.Add("  a--b ", "A b")
	f.Add("a b", "ab")
	f.Add("ไทย İ ǅ", "ไทย i̇ ǆ")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, "") // as texts of forms are
		if got, want := sameWords(a, b), words(a) == words(b); got != want {
			t.Errorf("%q and %q: got %v, want %v", a, b, got, want)
		}
		if !sameWords(a, words(a)) {
			t.Errorf("%q has not its own words", a)
		}
	})
}

package notices

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/feed"
)

// It prevents: status does not say why programs are not taken for the operator's (it was forgotten
// after a day), or says it in one line for each run.
func TestStatusSaysOfEndedKeepers(t *testing.T) {
	now := time.Now()
	ns := New(zerolog.Nop(), func() time.Time { return now }, feed.NewEvents(time.Now))
	for range 3 {
		ns.KeeperLost("mawjs")
	}
	ns.KeeperLost("volt")
	now = now.Add(2 * lasts)
	if got := ns.Texts(); len(got) != 2 || !strings.Contains(got[0], "mawjs") || !strings.Contains(got[1], "volt") {
		t.Errorf("status warns: %q", got)
	}
}

// It prevents: status repeats for ever what was over long ago, or what somebody has mended
// meanwhile; or it forgets what is wrong because much has happened since.
func TestStatusForgetsWhatIsOver(t *testing.T) {
	now := time.Now()
	ns := New(zerolog.Nop(), func() time.Time { return now }, feed.NewEvents(time.Now))
	shown := func() []string { return ns.Texts() }
	ns.Happened("somebody changed a file")
	ns.Wrong("hosts/far.md", "hosts/far.md cannot be read")
	ns.Wrong("key in hosts/white.md", "hosts/white.md holds another key")
	if got := shown(); len(got) != 3 {
		t.Fatalf("status warns: %q", got)
	}
	ns.Wrong("hosts/far.md", "hosts/far.md cannot be read: other bytes") // this takes the place of the one before
	now = now.Add(3 * time.Minute)
	ns.Mended("hosts/far.md")
	ns.putRight("key in hosts/white.md")
	ns.Mended("nothing")
	ns.Latest("stopped before pong", "an older conversation was stopped")
	ns.Latest("stopped before pong", "a conversation was stopped")
	want := []string{"somebody changed a file (3m ago)", "hosts/white.md holds another key; it was put right", "a conversation was stopped"}
	if got := shown(); !slices.Equal(got, want) {
		t.Errorf("status warns: %q, want %q", got, want)
	}
	now = now.Add(2 * time.Hour)
	if got := shown(); len(got) != 2 || !strings.HasSuffix(got[0], "(2h3m ago)") {
		t.Errorf("two hours later: %q", got)
	}
	ns.Wrong("disk", "the disk fails")
	now = now.Add(lasts)
	for i := range 3 * most {
		ns.Happened("event %d", i)
	}
	if got := shown(); len(got) != most || got[0] != "the disk fails" || got[most-1] != fmt.Sprintf("event %d", 3*most-1) {
		t.Errorf("after much has happened: %q", got)
	}
}

package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// It prevents: a status without the reason why programs are not taken for the operator's
// (it was forgotten after a day), or with one line for each run.
func TestStatusSaysOfEndedKeepers(t *testing.T) {
	c := new(clock)
	ns := newNotices(zerolog.Nop(), c.now)
	for range 3 {
		ns.sayLeft("mawjs")
	}
	ns.sayLeft("volt")
	c.forward(2 * noticeLasts)
	if got := ns.texts(); len(got) != 2 || !strings.Contains(got[0], "mawjs") || !strings.Contains(got[1], "volt") {
		t.Errorf("status warns: %q", got)
	}
}

// It prevents: status that repeats for ever what was over long ago, or what somebody has
// mended meanwhile; or one that forgets what is wrong because much has happened since.
func TestStatusForgetsWhatIsOver(t *testing.T) {
	c := new(clock)
	ns := newNotices(zerolog.Nop(), c.now)
	shown := func() []string { return ns.texts() }
	ns.happened("somebody changed a file")
	ns.wrong("hosts/far.md", "hosts/far.md cannot be read")
	ns.wrong("key in hosts/white.md", "hosts/white.md holds another key")
	if got := shown(); len(got) != 3 {
		t.Fatalf("status warns: %q", got)
	}
	ns.wrong("hosts/far.md", "hosts/far.md cannot be read: other bytes") // in place of the one before
	c.forward(3 * time.Minute)
	ns.mended("hosts/far.md")
	ns.putRight("key in hosts/white.md")
	ns.mended("nothing")
	want := []string{"somebody changed a file (3m ago)", "hosts/white.md holds another key; it was put right"}
	if got := shown(); !slices.Equal(got, want) {
		t.Errorf("status warns: %q, want %q", got, want)
	}
	c.forward(2 * time.Hour)
	if got := shown(); len(got) != 1 || !strings.HasSuffix(got[0], "(2h3m ago)") {
		t.Errorf("two hours later: %q", got)
	}
	ns.wrong("disk", "the disk fails")
	c.forward(noticeLasts)
	for i := range 3 * maxNotices {
		ns.happened("event %d", i)
	}
	if got := shown(); len(got) != maxNotices || got[0] != "the disk fails" || got[maxNotices-1] != fmt.Sprintf("event %d", 3*maxNotices-1) {
		t.Errorf("after much has happened: %q", got)
	}
}

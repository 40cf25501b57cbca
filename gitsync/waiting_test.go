package gitsync

import (
	"os"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// What waits is as old as its oldest part, in the journal or in a commit that the remote lacks.
func TestWaitingSince(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		remote := bareRemote(t)
		h := newHome(t, "h", remote)
		if s := h.Status(); !s.WaitingSince.IsZero() {
			t.Errorf("nothing waits, and that since %s", s.WaitingSince)
		}
		began := time.Now()
		h.append(t, testMessage(2, 1))
		time.Sleep(time.Minute)
		h.append(t, testMessage(2, 2))
		if s := h.Status(); !s.WaitingSince.Equal(began) {
			t.Errorf("in the journal since %s, want %s", s.WaitingSince, began)
		}
		away := remote + ".away"
		if err := os.Rename(remote, away); err != nil {
			t.Fatal(err)
		}
		committed := time.Now()
		runFor(t, time.Minute, h)
		if s := h.Status(); s.Unrecorded != 0 || s.Unpushed != 2 || s.WaitingSince.Before(committed) || time.Since(s.WaitingSince) < 50*time.Second {
			t.Errorf("%d not recorded, %d not pushed since %s, want 0 and 2 since %s", s.Unrecorded, s.Unpushed, s.WaitingSince, committed)
		}
		if err := os.Rename(away, remote); err != nil {
			t.Fatal(err)
		}
		runFor(t, time.Hour, h)
		if s := h.Status(); s.Unpushed != 0 || !s.WaitingSince.IsZero() {
			t.Errorf("%d not pushed since %s, want none", s.Unpushed, s.WaitingSince)
		}
	})
}

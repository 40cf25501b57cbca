package gitsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// It prevents: a full disk of which only senders learn, and one that still stands in status long
// after there is room again.
func TestThatNothingCanBeStoredIsSaidWhileItIsSo(t *testing.T) {
	t.Parallel()
	h := newHome(t, "white", "")
	var told []string
	h.tell.events.Stuck = func(s Step, why error) { told = append(told, fmt.Sprintf("%s: %v", s, why)) }
	h.room.stored(errors.New("no space left on device"))
	if got := h.Status().StoreError; got == nil || got.Error() != "no space left on device" {
		t.Fatalf("status says %v", got)
	}
	journal := filepath.Join(h.opts.Dir, journalName)
	if err := os.Rename(journal, journal+".away"); err != nil {
		t.Fatal(err)
	}
	look := func() error {
		h.room.mu.Lock()
		h.room.tried = time.Now().Add(-roomLook)
		h.room.mu.Unlock()
		h.room.look()
		return h.Status().StoreError
	}
	if look() == nil {
		t.Error("it can be stored, it is said, where nothing can be written")
	}
	if err := os.Rename(journal+".away", journal); err != nil {
		t.Fatal(err)
	}
	if got := look(); got != nil {
		t.Errorf("there is room again, and status says %v", got)
	}
	if _, err := os.Stat(filepath.Join(journal, roomName)); err == nil {
		t.Error("what was written to look for room is there still")
	}
	h.noteCommit(errors.New("no space left on device"))
	h.noteCommit(errors.New("no space left on device"))
	h.noteCommit(nil)
	h.tell.queue.deliver()
	want := []string{
		"storing: no space left on device", "storing: <nil>", "committing: no space left on device", "committing: <nil>",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

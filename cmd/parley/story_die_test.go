//go:build failpoint

package main

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/failpoint"
)

// A node dies between storing a message and telling anybody. Its sender asks again
// with the same request. It prevents: a message that is lost, or sent twice.
func TestDieBeforeTheAnswer(t *testing.T) {
	for _, p := range []failpoint.Point{failpoint.Stored, failpoint.Published} {
		t.Run(strings.TrimPrefix(string(p), "node/"), func(t *testing.T) {
			h := newStoryHost(t, "white")
			h.start()
			h.must("agent", "add", "blob", "--exec", "git hash-object --stdin")
			h.stop()
			t.Setenv(failpoint.Variable, string(p))
			h.start()
			if out, err := h.try("hey", "blob", "--request", "r1", "hello"); err == nil {
				t.Fatalf("the node answered %q", out)
			}
			<-h.ended
			h.up = nil
			t.Setenv(failpoint.Variable, "")
			h.start()
			letters := newSaid()
			out := h.must("hey", "blob", "--request", "r1", "hello")
			letters.addLine(t, out, "hello")
			if again := h.must("hey", "blob", "--request", "r1", "hello"); strings.Fields(again)[0] != strings.Fields(out)[0] {
				t.Errorf("the same request led to %s and %s", out, again)
			}
			h.until("it is answered and recorded", func() bool { return h.unanswered("blob") == 0 && h.status().Record.Unrecorded == 0 })
			letters.check(t, h, "blob", h.home.Record())
		})
	}
}

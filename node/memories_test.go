package node

import (
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// It prevents: memories that were written in one moment are listed in an order that changes from
// run to run.
func TestMemoriesOfOneMomentKeepTheirOrder(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	n, _ := runNodeAt(t, initHome(t, nil), func() time.Time { return at })
	var want, got []string
	for _, subject := range strings.Split("language deadline tools budget names", " ") {
		if _, err := control.AddMemory.Ask(t.Context(), n, control.AddMemoryRequest{Subject: subject, Body: "x"}); err != nil {
			t.Fatal(err)
		}
		want = append(want, subject)
	}
	all, err := control.Memories.Ask(t.Context(), n, control.MemoriesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		got = append(got, m.Subject)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("written %q, listed %q", want, got)
	}
}

package cli

import (
	"context"
	"io"
	"strings"
	"testing"
)

// It prevents: Ctrl-C at a question does nothing until Enter is pressed.
func TestCtrlCIsANo(t *testing.T) {
	nobody, hold := io.Pipe()
	defer hold.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said strings.Builder
	if p := New(nobody, io.Discard, &said, func(string) string { return "" }); p.Confirm(ctx, "Proceed? [y/N] ") {
		t.Error("it was a yes")
	}
	if said.String() != "Proceed? [y/N] \n" {
		t.Errorf("it said %q", said.String())
	}
}

func TestOnlyAYesIsAYes(t *testing.T) {
	for typed, want := range map[string]bool{"y\n": true, " YES\n": true, "yes": true, "n\n": false, "": false, "yesterday\n": false} {
		p := New(strings.NewReader(typed), io.Discard, io.Discard, func(string) string { return "" })
		if got := p.Confirm(t.Context(), "Proceed? [y/N] "); got != want {
			t.Errorf("%q is %v", typed, got)
		}
	}
}

package talk

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// gated has no mail, and a gate that waits for nat.
type gated struct{}

func (g gated) Answer(_ context.Context, v control.VerbSpec, _ any, yield func(any) error) error {
	if v.Name == control.Inbox.Name {
		return yield([]control.Message{})
	}
	return yield(control.Status{Human: "nat", Speaker: "nat", Gates: 1})
}

// It prevents: a gate of an inquiry is no mail, so a human who looks into an empty inbox at a
// terminal does not learn of it.
func TestAnEmptyInboxTellsOfGates(t *testing.T) {
	for as, want := range map[string]bool{"": true, "mawjs": false} {
		var out bytes.Buffer
		v := cli.View{Out: term.Screen{Writer: &out, Terminal: true, Width: 80}, Command: func(words string) string { return words }}
		if err := RunInbox(t.Context(), control.InboxRequest{As: as}, gated{}, v); err != nil || strings.Contains(out.String(), "parley gates   1 gate for you to decide") != want {
			t.Errorf("as %q: %v, %q", as, err, out.String())
		}
	}
}

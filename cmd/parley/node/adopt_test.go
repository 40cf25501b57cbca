package node

import (
	"bytes"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
)

// It prevents: what a human must read before a yes runs over the edge of a narrow terminal, with
// its two columns torn apart.
func TestAdoptionFits(t *testing.T) {
	var out bytes.Buffer
	v := cli.View{Out: term.Screen{Writer: &out, Terminal: true, Width: 60}}
	showPathsAndWhy(v, [][]string{
		{"  local/PARLEY.md", "the name of the fleet"},
		{"  data/channels/sprint/2026/06/02/x.md", "a message lies in a channel whose name is a UUID, as UUID/YYYY/MM/DD/NAME.md"},
		{"  … and 1 more", ""},
	})
	const want = `  local/PARLEY.md
    the name of the fleet
  data/channels/sprint/2026/06/02/x.md
    a message lies in a channel whose name is a UUID, as
    UUID/YYYY/MM/DD/NAME.md
  … and 1 more
`
	if out.String() != want {
		t.Errorf("printed\n%s, want\n%s", out.String(), want)
	}
}

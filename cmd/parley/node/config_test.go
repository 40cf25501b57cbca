package node

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
)

// It prevents: config check names "parley restart" as the next step below the mistakes that it
// has found. The node then stops and does not start.
func TestConfigCheckStopsNoNodeForAMistake(t *testing.T) {
	home := configs.Home{Dir: t.TempDir()}
	c := configs.Default()
	c.Fleet, c.Alias, c.Human = "demo", "white", "nat"
	if err := os.WriteFile(home.Config(), configs.Render(c), 0o600); err != nil {
		t.Fatal(err)
	}
	r := new(clitest.Recorder)
	clitest.On(r, control.ShowStatus.Verb, control.Status{Causes: []causes.Found{causes.Of(causes.ConfigChanged, causes.Facts{})}})
	check := func() string {
		var out bytes.Buffer
		v := cli.View{Out: term.Screen{Writer: &out, Terminal: true, Width: 80}, Command: func(words string) string { return words }}
		_ = runConfigCheck(t.Context(), home, r, v) // the output says what is wrong
		return out.String()
	}
	if said := check(); !strings.Contains(said, "parley restart") {
		t.Errorf("a change that a start takes in:\n%s", said)
	}
	data, err := os.ReadFile(home.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.Config(), bytes.Replace(data, []byte("max_hops"), []byte("max_hop"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := check(); !strings.Contains(said, "did you mean max_hops") || strings.Contains(said, "parley restart") {
		t.Errorf("a change that no start takes in:\n%s", said)
	}
}

package node

import (
	"os"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/homes"
)

// It prevents: at 80 columns nobody is told where a host of the fleet takes links.
func TestFoundHostsSayWhereTheyTakeLinks(t *testing.T) {
	fingerprint := "SHA256:" + strings.Repeat("x", 43)
	for _, width := range []int{0, 60, 80, 200} {
		r := newRun(t)
		if r.AtTerminal(width); width == 0 {
			r = newRun(t)
		}
		foundHosts([]homes.Found{
			{Alias: "white", Founder: true, Fingerprint: fingerprint, Addresses: []string{"192.0.2.7:4223", "white.example:4223"}},
			{Alias: "black", Fingerprint: fingerprint},
		}, nil, r.Program.View())
		said := strings.Join(strings.Fields(r.Out.String()), " ")
		if !strings.Contains(said, "192.0.2.7:4223") || !strings.Contains(said, "white.example:4223") || strings.Contains(said, "black takes") {
			t.Errorf("%d columns: %s", width, r.Out.String())
		}
	}
}

// A question without a word more has an answer.
func TestRemoteAloneShowsIt(t *testing.T) {
	alone, shown := newRun(t), newRun(t)
	shown.Env["PARLEY_HOME"] = alone.Env["PARLEY_HOME"]
	c := configs.Default()
	c.Fleet, c.Alias, c.Human = "demo", "white", "nat"
	if err := os.WriteFile(configs.Home{Dir: alone.Env["PARLEY_HOME"]}.Config(), configs.Render(c), 0o600); err != nil {
		t.Fatal(err)
	}
	alone.Do("remote")
	shown.Do("remote", "show")
	if alone.Out.String() != shown.Out.String() || !strings.Contains(alone.Out.String(), "remote:") {
		t.Errorf("remote says %q and %q, remote show %q", alone.Out.String(), alone.Err.String(), shown.Out.String())
	}
}

package root

import (
	"os"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

func TestFirstSteps(t *testing.T) {
	down := control.Errorf(control.KindUnavailable, "parley up -d", "no node is running")
	for _, test := range []struct {
		name  string
		setUp bool
		err   error
		want  string
	}{
		{"no home", false, down, "parley init"},
		{"no node", true, down, "parley up"},
		{"running", true, nil, "parley hey AGENT hello"},
	} {
		r := newRun(t)
		r.Failure = test.err
		clitest.On(r, control.ShowStatus.Verb, clitest.SomeStatus())
		if test.setUp {
			if err := os.WriteFile(configs.Home{Dir: r.Env["PARLEY_HOME"]}.Config(), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code := r.Do(); code != cli.ExitDone || !strings.Contains(r.Out.String(), test.want) {
			t.Errorf("%s: exit %d, printed %q, want it to name %q", test.name, code, r.Out.String(), test.want)
		}
	}
}

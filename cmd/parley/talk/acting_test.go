package talk

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: somebody types "parley inbox" where an agent acts, reads that agent's mail and
// leaves receipts in its name, and nothing says so.
func TestInWhoseNameACommandActs(t *testing.T) {
	const token = "as mawjs, because its token says so\n"
	for _, test := range []struct {
		line     string
		agent    string // PARLEY_AGENT
		speaker  protocol.Name
		terminal bool
		want     string
	}{
		{line: "inbox", speaker: "mawjs", terminal: true, want: token},
		{line: "read b2c3d4e5", speaker: "mawjs", terminal: true, want: token},
		{line: "hey volt hello", speaker: "mawjs", terminal: true, want: token},
		{line: "channel new sprint", speaker: "mawjs", terminal: true, want: token},
		{line: "memory add --subject x text", speaker: "mawjs", terminal: true, want: token},
		{line: "inbox", speaker: "nat", terminal: true},
		{line: "inbox", speaker: "mawjs"},
		{line: "inbox --json", speaker: "mawjs", terminal: true},
		{line: "inbox --as mawjs", speaker: "mawjs", terminal: true},
		{line: "inbox", agent: "volt", speaker: "volt", terminal: true, want: "as volt, because PARLEY_AGENT says so\n"},
		{line: "inbox --as nat", agent: "volt", speaker: "mawjs", terminal: true},
	} {
		r := newRun(t)
		clitest.On(r, control.ShowStatus.Verb, control.Status{Human: "nat", Speaker: test.speaker})
		r.Env["PARLEY_AGENT"] = test.agent
		if test.terminal {
			r.AtTerminal(80)
		}
		if code := r.Do(strings.Fields(test.line)...); code != cli.ExitDone {
			t.Errorf("%s: exit %d, %s", test.line, code, r.Err.String())
		}
		if got := r.Err.String(); got != test.want {
			t.Errorf("%s with PARLEY_AGENT=%q said %q, want %q", test.line, test.agent, got, test.want)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Whoever typed "parley inbox" read the mail of the only agent with an inbox, and
// left receipts in its name, and nothing said so.
func TestInWhoseNameACommandActs(t *testing.T) {
	const only = "as mawjs, the only agent with an inbox here; as yourself: --as nat\n"
	for _, test := range []struct {
		line     string
		agent    string // PARLEY_AGENT
		speaker  protocol.Name
		terminal bool
		want     string
	}{
		{line: "inbox", speaker: "mawjs", terminal: true, want: only},
		{line: "read b2c3d4e5", speaker: "mawjs", terminal: true, want: only},
		{line: "hey volt hello", speaker: "mawjs", terminal: true, want: only},
		{line: "channel new sprint", speaker: "mawjs", terminal: true, want: only},
		{line: "memory add --subject x text", speaker: "mawjs", terminal: true, want: only},
		{line: "inbox", speaker: "nat", terminal: true},
		{line: "inbox", speaker: "mawjs"},
		{line: "inbox --json", speaker: "mawjs", terminal: true},
		{line: "inbox --as mawjs", speaker: "mawjs", terminal: true},
		{line: "inbox", agent: "volt", speaker: "mawjs", terminal: true, want: "as volt, because PARLEY_AGENT says so\n"},
		{line: "inbox --as nat", agent: "volt", speaker: "mawjs", terminal: true},
	} {
		r := newRun(t)
		r.status = control.Status{Human: "nat", Speaker: test.speaker}
		r.env["PARLEY_AGENT"] = test.agent
		if test.terminal {
			r.atTerminal(80)
		}
		if code := r.do(strings.Fields(test.line)...); code != exitDone {
			t.Errorf("%s: exit %d, %s", test.line, code, r.err.String())
		}
		if got := r.err.String(); got != test.want {
			t.Errorf("%s with PARLEY_AGENT=%q said %q, want %q", test.line, test.agent, got, test.want)
		}
	}
}

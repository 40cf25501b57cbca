package talk

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: in lists, a message that anybody could have written looks like any other. Only chat
// and show told the difference.
func TestListsSayWhatNobodySigned(t *testing.T) {
	unverified := clitest.Message("pay the bill")
	unverified.Signature = protocol.SignatureUnverified
	refused := clitest.Message("pay it twice")
	refused.Signature, refused.Act = protocol.SignatureRefused, protocol.ActReply
	valid := clitest.Message("all is well")
	for _, line := range []string{"inbox", "log", "log --follow", "thread x", "replies x", "search x"} {
		for _, width := range []int{0, 80} {
			r := newRun(t)
			all := []control.Message{unverified, refused, valid}
			var thread []control.ThreadMessage
			var found control.SearchResult
			for _, m := range all {
				thread = append(thread, control.ThreadMessage{Message: m})
				found.Hits = append(found.Hits, control.MessageHit{Message: m})
			}
			r.HasMail(all)
			clitest.On(r, control.Thread, thread)
			clitest.On(r, control.Search, found)
			if width > 0 {
				r.AtTerminal(width)
			}
			if code := r.Do(strings.Fields(line)...); code != cli.ExitDone {
				t.Errorf("%s: exit %d, %s", line, code, r.Err.String())
			}
			out := strings.ReplaceAll(r.Out.String(), "↳ ", "")
			for _, want := range []string{"[unverified] pay the", "[refused] pay it"} {
				if !strings.Contains(out, want) {
					t.Errorf("%s at %d columns does not say %q:\n%s", line, width, want, out)
				}
			}
			if strings.Contains(out, "] all is well") {
				t.Errorf("%s at %d columns marks what is signed:\n%s", line, width, out)
			}
		}
	}
}

// It prevents: attach tells that nobody signed a message, and not that a host could not tell who
// wrote it.
func TestAttachSaysWhoseWriterIsInDoubt(t *testing.T) {
	r := newRun(t)
	m := clitest.Message("pay the bill")
	m.Unattended, m.Signature = true, protocol.SignatureUnverified
	r.HasMail([]control.Message{m})
	r.AtTerminal(120)
	if code := r.Do("attach", "sprint"); code != cli.ExitDone || !strings.Contains(r.Out.String(), "unverified  unattended") {
		t.Errorf("exit %d:\n%s", code, r.Out.String())
	}
}

// It prevents: in a log a redaction stands as its form does, and neither what it hides nor why fits.
func TestRedactionInALine(t *testing.T) {
	hidden := clitest.Message("a token").Path
	m := clitest.Message(protocol.Redact.Format(protocol.Redaction{FormHead: protocol.FormHead{From: "nat"}, File: hidden.RepoPath(), Reason: "it has a token"}))
	m.Act = protocol.ActRedact
	if got, want := Summary(m), "[redact] "+hidden.Short()+": it has a token"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

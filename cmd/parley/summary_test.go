package main

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Only chat and show told that anybody could have written a message; in the lists it
// looked like any other.
func TestListsSayWhatNobodySigned(t *testing.T) {
	unverified := letter("pay the bill")
	unverified.Signature = protocol.SignatureUnverified
	refused := letter("pay it twice")
	refused.Signature, refused.Act = protocol.SignatureRefused, protocol.ActReply
	valid := letter("all is well")
	for _, line := range []string{"inbox", "log", "log --follow", "thread x", "replies x", "search x"} {
		for _, width := range []int{0, 80} {
			r := newRun(t)
			r.mail = []control.Message{unverified, refused, valid}
			for _, m := range r.mail {
				r.thread = append(r.thread, control.ThreadMessage{Message: m})
				r.found.Hits = append(r.found.Hits, control.MessageHit{Message: m})
			}
			if width > 0 {
				r.atTerminal(width)
			}
			if code := r.do(strings.Fields(line)...); code != cli.ExitDone {
				t.Errorf("%s: exit %d, %s", line, code, r.err.String())
			}
			out := strings.ReplaceAll(r.out.String(), "↳ ", "")
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

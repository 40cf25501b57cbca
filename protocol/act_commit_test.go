package protocol_test

import (
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// Work-with W170: an acceptance says in the seed's words what it commits to and what changes by
// it; of what others write in those words the change is read, of other words all.
func TestACommitment(t *testing.T) {
	item := protocol.ItemRef{Label: "A1", Text: "Keys are four"}
	for change, want := range map[string]string{"": "I accept this state.", "I send four": "I accept this state. Behavior change: I send four", "I accept this state.": "I accept this state. Behavior change: I accept this state."} {
		body := protocol.Accept.Format(protocol.Acceptance{FormHead: protocol.FormHead{From: "mawjs"}, Item: item, Commitment: change})
		if want := "ACCEPT | from: mawjs\nITEM: [A1] Keys are four\nCOMMITMENT: " + want; body != want {
			t.Errorf("%q is written as\n%s\nwant\n%s", change, body, want)
		}
		if a, err := protocol.Accept.Parse(body); err != nil || a.Commitment != change {
			t.Errorf("%q is read as %q, %v", change, a.Commitment, err)
		}
	}
	for said, want := range map[string]string{"I send four": "I send four", "I accept this state": "I accept this state", "I accept this state.\nBehavior change:": "", "I accept this state. It is good.": "It is good."} {
		if a, err := protocol.Accept.Parse("ACCEPT | from: mawjs\nCOMMITMENT: " + said); err != nil || a.Commitment != want {
			t.Errorf("%q is read as %q, %v; want %q", said, a.Commitment, err, want)
		}
	}
}

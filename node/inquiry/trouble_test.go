package inquiry

import (
	"errors"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// Two calls are made side by side, and one of them fails for good. Its failure is told as long as
// the call is to be made. It prevents: the success of the other call takes the failure back, and
// the inquiry stands still without a reason.
func TestTroubleOutlastsTheSuccessOfAnotherCall(t *testing.T) {
	at := protocol.NewPath("c0ffee", time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), 0)
	v := inquiries.Inquiry{Path: at, State: inquiries.Await, Epoch: 1, Members: []*inquiries.Member{
		{Perspective: "Cost", Attempt: 1, Given: at, Tasked: true}, {Perspective: "Sleep", Attempt: 1, Given: at, Tasked: true},
	}}
	both := inquiries.Next(v)
	if len(both) != 2 {
		t.Fatalf("to be done: %+v", both)
	}
	g := newGoing(t.Context())
	g.ended(v, both[0], errors.New("no room"))
	g.ended(v, both[1], nil)
	if got := g.trouble(v); got != "no room" {
		t.Errorf("trouble: %q", got)
	}
	v.Members[0].Signal = &protocol.InquirySignal{Outcome: protocol.SignalFailed}
	if got := g.trouble(v); got != "" {
		t.Errorf("trouble with what is not to be done any more: %q", got)
	}
}

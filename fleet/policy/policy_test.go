package policy

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

func settle(t *testing.T, p Policy, key, value string) Policy {
	t.Helper()
	body := protocol.SetPolicy.Format(protocol.Ruling{Key: key, Value: value})
	next, err := p.step(affair.Deed{Message: &protocol.Message{From: "nat", Body: body}, Human: true, Founder: true})
	if err != nil {
		t.Fatalf("%s=%s: %v", key, value, err)
	}
	return next
}

// A fleet's hosts have different versions: what one settles that another does not know is
// kept there, shown, and changes nothing.
func TestWhatAnotherVersionSettlesIsKept(t *testing.T) {
	p := settle(t, settle(t, Policy{}, "member-preset", "claude"), KeyWindowIssue, "a fortnight")
	if all := p.All(); len(all) != 2 || all[0].Key != "member-preset" || all[0].Value != "claude" {
		t.Errorf("it keeps %+v", all)
	}
	if value, settled := p.Value(KeyWindowIssue); value != "30d" || settled {
		t.Errorf("a window that nobody here can read holds as %q (settled: %t)", value, settled)
	}
	if got := p.Window(KeyWindowIssue); got != 30*24*time.Hour {
		t.Errorf("the window is %s", got)
	}
}

// Every default is a value that could be settled.
func TestDefaultsAreValues(t *testing.T) {
	for _, k := range Keys() {
		if err := k.check(k.Default); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

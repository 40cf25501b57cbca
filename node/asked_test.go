package node

import (
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// Only a request for the mail of an agent with an inbox counts as a sign of the agent. Requests of
// others do not count, and neither does an agent whose mail a program is run for.
func TestWhenAnInboxWasAsked(t *testing.T) {
	now := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	n, _ := runNodeAt(t, initHome(t, nil), func() time.Time { return now })
	addExec(t, n, "echo", "cat")
	for _, name := range []string{"mawjs", "volt"} {
		if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: name, Inbox: true}); err != nil {
			t.Fatal(err)
		}
	}
	asked := func(name string) (string, time.Time) {
		all, err := control.List.Ask(t.Context(), n, control.HostsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(p control.Participant) bool { return p.Name.String() == name })
		return all[i].Door, all[i].Asked
	}
	if _, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "nat"}); err != nil {
		t.Fatal(err)
	}
	if door, at := asked("mawjs"); door != "inbox" || !at.IsZero() {
		t.Errorf("before it asked: door %q, asked %v", door, at)
	}
	if _, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "echo"}); err != nil {
		t.Fatal(err)
	}
	if _, at := asked("mawjs"); !at.Equal(now) {
		t.Errorf("asked at %v, want %v", at, now)
	}
	if _, at := asked("volt"); !at.IsZero() {
		t.Errorf("volt asked at %v, but only mawjs did", at)
	}
	if door, at := asked("echo"); door != "exec" || !at.IsZero() {
		t.Errorf("echo: door %q, asked %v", door, at)
	}
	_, err := control.Wait.Ask(t.Context(), n, control.WaitRequest{As: "volt", To: "volt", Within: time.Millisecond})
	if _, at := asked("volt"); err == nil || !at.Equal(now) {
		t.Errorf("after a wait volt asked at %v, want %v (%v)", at, now, err)
	}
}

package node

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// presenceOf is what an agent is doing, as a host of the fleet lists it.
func presenceOf(t *testing.T, n control.Service, agent string) control.AgentState {
	t.Helper()
	all, err := control.List.Ask(t.Context(), n, control.HostsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p control.Participant) bool { return p.Name.String() == agent })
	if i < 0 {
		return ""
	}
	return all[i].Presence
}

func wantPresence(t *testing.T, n control.Service, agent string, want control.AgentState) {
	t.Helper()
	if got := presenceOf(t, n, agent); got != want {
		t.Errorf("%s is %q, want %q", agent, got, want)
	}
}

func isAt(t *testing.T, n control.Service, session string, state control.AgentState) {
	t.Helper()
	if _, err := control.SetPresence.Ask(t.Context(), n, control.PresenceRequest{As: "mawjs", State: state, Session: session}); err != nil {
		t.Fatal(err)
	}
}

// The state of an agent follows from what its sessions say, the busiest session first. If they say
// nothing, it follows from when the agent asks for its mail.
func TestPresenceOfAnAgent(t *testing.T) {
	var ahead atomic.Int64
	n, _ := runNodeAt(t, initHome(t, nil), func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	addInbox(t, n, "mawjs")
	wantPresence(t, n, "mawjs", control.AgentAway)
	if _, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	wantPresence(t, n, "mawjs", control.AgentIdle)
	ahead.Add(int64(16 * time.Minute))
	wantPresence(t, n, "mawjs", control.AgentAway)

	waits := make(chan error, 1)
	go func() {
		_, err := claim(t.Context(), n, "waits", within)
		waits <- err
	}()
	eventually(t, "it is there while it waits for mail", func() bool { return presenceOf(t, n, "mawjs") == control.AgentIdle })
	say(t, n, "mawjs", "work")
	if err := awaited(t, "the mail", waits); err != nil {
		t.Fatal(err)
	}

	isAt(t, n, "left", control.AgentIdle)
	isAt(t, n, "right", control.AgentWaiting)
	wantPresence(t, n, "mawjs", control.AgentWaiting)
	isAt(t, n, "left", control.AgentRunning)
	wantPresence(t, n, "mawjs", control.AgentRunning)
	isAt(t, n, "left", control.AgentAway)
	isAt(t, n, "right", control.AgentAway)
	wantPresence(t, n, "mawjs", control.AgentAway)

	isAt(t, n, "lost", control.AgentRunning)
	ahead.Add(int64(13 * time.Hour)) // too long for a session that nobody saw end
	eventually(t, "a word of long ago counts no more", func() bool { return presenceOf(t, n, "mawjs") == control.AgentAway })
}

// An agent whose command runs is running.
func TestPresenceOfACommand(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	addExec(t, n, "calc", `sh -c "read line; until [ -e go ]; do sleep 0.01; done; echo done"`)
	wantPresence(t, n, "calc", control.AgentIdle)
	say(t, n, "calc", "2+2")
	eventually(t, "its command runs", func() bool { return presenceOf(t, n, "calc") == control.AgentRunning })
}

// The other hosts learn what an agent is doing when it says so, not seconds later.
func TestPresenceTravels(t *testing.T) {
	t.Parallel()
	here, _ := aHub(t)
	there, _, _ := linkedTo(t, here, "white")
	addInbox(t, here, "mawjs")
	isAt(t, here, "left", control.AgentRunning)
	eventually(t, "the other host knows", func() bool { return presenceOf(t, there, "mawjs") == control.AgentRunning })
	isAt(t, here, "left", control.AgentWaiting)
	eventually(t, "the other host knows", func() bool { return presenceOf(t, there, "mawjs") == control.AgentWaiting })
}

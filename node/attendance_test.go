package node

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
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
	t.Parallel()
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

// What becomes of a message at a session of another host is known where it was sent: the program took
// the bell for it, and waits for its human since then. Only the session's own host can say so. It
// prevents: a sender who does not know whether an answer will come.
func TestWhatASessionIsAtTravels(t *testing.T) {
	t.Parallel()
	here, there := linkedPair(t)
	addInbox(t, there, "mawjs")
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, here, "white", control.HostLive).Agents) == 1 })
	events := eventsOf(t, here, control.EventsRequest{Kinds: []control.EventKind{control.EventSession}})
	m := say(t, here, "mawjs", "hello")
	eventually(t, "it is there", func() bool { return has(there, m.Path) })
	of := func() control.Addressee {
		m, err := control.Show.Ask(t.Context(), here, control.ShowRequest{Path: m.Path.String()})
		if err != nil {
			t.Fatal(err)
		}
		return m.Addressees[0]
	}
	here.live.Hear("eve", "mawjs", []protocol.Path{m.Path})
	if of().Woken {
		t.Error("a host that does not serve the agent said it is woken")
	}
	there.hearing.Woken("mawjs", []protocol.Path{m.Path})
	until(t, events, "woken", func(e control.Event) bool {
		return e.Session != nil && e.Session.Change == control.SessionWoken && e.Session.Host == "white"
	})
	if a := of(); !a.Woken || a.Waits != nil {
		t.Errorf("%+v", a)
	}
	isAt(t, there, "left", control.AgentWaiting)
	until(t, events, "waits", func(e control.Event) bool { return e.Session != nil && e.Session.Change == control.SessionWaits })
	_, since := there.sessions.At("mawjs", time.Time{})
	if a := of(); a.Waits == nil || *a.Waits != (protocol.Waits{For: protocol.WaitsForHuman, Time: since.UTC()}) {
		t.Errorf("%+v", a)
	}
	lines := linesOfTrace(traceOf(t, here, control.TraceRequest{Path: m.Path.String()}))
	for _, want := range []string{"white woken mawjs", "white waits mawjs human"} {
		if !slices.Contains(lines, want) {
			t.Errorf("the trace lacks %q: %q", want, lines)
		}
	}
	isAt(t, there, "left", control.AgentRunning)
	until(t, events, "goes on", func(e control.Event) bool { return e.Session != nil && e.Session.Change == control.SessionGoesOn })
	if a := of(); a.Waits != nil {
		t.Errorf("it waits for %+v", a.Waits)
	}
}

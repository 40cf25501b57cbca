package node

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// fleetRows asks for the status of the fleet, and returns it by host.
func fleetRows(t *testing.T, n *Node) map[protocol.Name]control.FleetHost {
	t.Helper()
	f, err := control.AskFleet.Ask(t.Context(), n, control.HostsRequest{All: true})
	if err != nil || f.Asked != n.cfg.Alias || f.Fleet != n.cfg.Fleet {
		t.Fatalf("fleet status: %+v, %v", f, err)
	}
	rows := map[protocol.Name]control.FleetHost{}
	for _, h := range f.Hosts {
		rows[h.Alias] = h
	}
	return rows
}

func TestFleetStatus(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	white, stopWhite, clock := linkedTo(t, hub, "white")
	black, _, _ := linkedTo(t, hub, "black")
	clock.forward(time.Minute)
	addExec(t, white, "shout", "cat")
	say(t, hub, "all", "to everyone")
	for _, n := range []*Node{hub, black} {
		seenAs(t, n, "white", control.HostLive)
	}
	seenAs(t, hub, "black", control.HostLive)
	var rows map[protocol.Name]control.FleetHost
	eventually(t, "all have everything", func() bool { // what they say of each other comes one by one
		rows = fleetRows(t, black) // across the hub
		ahead, behind := 0, 0
		for _, h := range rows {
			ahead, behind = ahead+h.Ahead, behind+h.Behind
		}
		return rows["white"].Answered && rows["oracle-world"].Answered && ahead+behind == 0
	})
	for alias, h := range rows {
		if !h.Answered || h.Problem != "" || h.Version != "test" || h.Tip == "" {
			t.Errorf("%s: %+v, want an answer and nothing behind", alias, h)
		}
		if alias == "white" && ((h.Clock.Duration()-time.Minute).Abs() > h.RTT.Duration()/2+10*time.Millisecond || h.AgentCount != 1 || h.RTT <= 0 || len(h.Links) != 1) {
			t.Errorf("white: %+v, want its clock, its agent, a round trip and its link", h)
		}
	}
	eventually(t, "the round trip to black is known", func() bool {
		fleetRows(t, hub) // the question measures it
		return seenAs(t, hub, "black", control.HostLive).RTT > 0
	})
	stopWhite()
	seenAs(t, hub, "white", control.HostAway)
	if h := fleetRows(t, hub)["white"]; h.Answered || h.Problem != "" || h.State != control.HostAway {
		t.Errorf("white that left: %+v, want it away and not asked", h)
	}
}

// A host that was killed a moment ago does not keep the others from being shown.
func TestFleetStatusSaysWhoIsSilent(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	hub, _ := aHub(t)
	white, _, _ := linkedTo(t, hub, "white")
	linkedTo(t, hub, "black")
	seenAs(t, hub, "black", control.HostLive)
	seenAs(t, hub, "white", control.HostLive)
	if err := white.currentBus().Close(); err != nil {
		t.Fatal(err)
	}
	rows := fleetRows(t, hub)
	if h := rows["white"]; h.Answered || !strings.Contains(h.Problem, "white did not answer within 2s") {
		t.Errorf("white: %+v, want no answer", h)
	}
	if h := rows["black"]; !h.Answered || h.Problem != "" {
		t.Errorf("black: %+v, want an answer", h)
	}
}

// A host of an older version does not know the question. It counts as live, and the report says why
// nothing more is known.
func TestFleetStatusOfOthersThatCannotSay(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	hub, _ := aHub(t)
	white, _, _ := linkedTo(t, hub, "white")
	seenAs(t, hub, "white", control.HostLive)
	white.currentBus().Serve(presence.QuestionStatus, func(context.Context, protocol.Name, []byte) ([]byte, error) { return []byte("{}"), nil })
	if h := fleetRows(t, hub)["white"]; !h.Answered || !strings.Contains(h.Problem, "cannot read what a host reports") || h.RTT <= 0 {
		t.Errorf("a report without sense: %+v", h)
	}
	white.currentBus().Serve(presence.QuestionStatus, nil)
	if h := fleetRows(t, hub)["white"]; !h.Answered || !strings.Contains(h.Problem, "does not know the question") {
		t.Errorf("an older version: %+v", h)
	}
}

// A host that writes, and to which no link leads, is reached by git alone. What a host wrote before
// it stopped does not make it such a host.
func TestAHostIsReachedByGitAlone(t *testing.T) {
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	fastFetch(t, home)
	hub, _ := runNode(t, home)
	clock := new(clock)
	white, stop := runNodeAt(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", hub.cfg.Remote }), clock.now)
	seenAs(t, hub, "white", control.HostAway)
	clock.forward(2 * presence.Lasts) // its next words are later than the start of the hub
	say(t, white, "all", "by git")
	h := seenAs(t, hub, "white", control.HostGit)
	if h.LastSeen.IsZero() || h.LastMessage == nil || !h.LastSeen.Equal(h.LastMessage.Timestamp) {
		t.Errorf("white: %+v, want it seen when it wrote", h)
	}
	wantNoPing(t, hub, control.PingRequest{Alias: "white"}, control.KindFailed, "cannot ping white: it is not on the bus, git alone reaches it")
	stop()
}

// Fifty hosts are asked at once. All answer within the time that one host has. The test is run on
// request, because making the homes and the joins takes long.
func TestFleetStatusOfFiftyHosts(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("makes fifty nodes; set PARLEY_SOAK=1")
	}
	hub, _ := aHub(t)
	const count = 50
	for i := range count - 1 {
		runNode(t, initHome(t, func(o *homes.Options) {
			o.Alias, o.Remote, o.Hubs = fmt.Sprintf("h%02d", i), hub.cfg.Remote, []string{hub.currentBus().Addresses().Links}
		}))
	}
	eventually(t, "all hosts are live", func() bool {
		hosts, err := control.Hosts.Ask(t.Context(), hub, control.HostsRequest{})
		return err == nil && len(hosts) == count && !slices.ContainsFunc(hosts, func(h control.Host) bool { return h.State != control.HostHere && h.State != control.HostLive })
	})
	for alias, h := range fleetRows(t, hub) {
		if !h.Answered || h.Problem != "" {
			t.Errorf("%s: %q, want an answer", alias, h.Problem)
		}
		t.Logf("%s: %s, %d behind", alias, h.RTT, h.Behind)
	}
}

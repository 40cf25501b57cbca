package node

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// clock is the system's clock, put forward by as much as a test wants.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(by time.Duration) { c.ahead.Add(int64(by)) }

// linkedTo makes the home of a host that links to the hub, and runs its node.
func linkedTo(t *testing.T, hub *Node, alias string) (n *Node, stop func(), c *clock) {
	t.Helper()
	c = new(clock)
	n, stop = runNodeAt(t, homeLinkedTo(t, hub, alias), c.now)
	return n, stop, c
}

// homeLinkedTo makes the home of a host that dials the hub.
func homeLinkedTo(t *testing.T, hub *Node, alias string) configs.Home {
	t.Helper()
	home := initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Hubs = alias, hub.cfg.Remote, []string{hub.currentBus().Addresses().Links}
	})
	fastFetch(t, home)
	return home
}

// aHub runs a host to which others can link, and returns its clock too.
func aHub(t *testing.T) (*Node, *clock) {
	t.Helper()
	c := new(clock)
	home := initHome(t, func(o *homes.Options) { o.Remote, o.Listen = bareRemote(t), "127.0.0.1:0" })
	fastFetch(t, home)
	n, _ := runNodeAt(t, home, c.now)
	return n, c
}

// seenAs waits until a node sees a host in that state.
func seenAs(t *testing.T, n *Node, alias string, state control.HostState) control.Host {
	t.Helper()
	var h control.Host
	eventually(t, alias+" is "+string(state), func() bool {
		var err error
		h, err = control.ShowHost.Ask(t.Context(), n, control.HostRequest{Alias: alias})
		return err == nil && h.State == state
	})
	return h
}

func TestHostsAreShownAndPinged(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	white, stop, _ := linkedTo(t, hub, "white")
	addExec(t, white, "shout", "cat")
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "white", control.HostLive).Agents) == 1 })
	h := seenAs(t, hub, "white", control.HostLive)
	print, err := protocol.Fingerprint(white.signsWith.Load().Public)
	if err != nil || h.Key != white.signsWith.Load().Public || h.Fingerprint != print || !h.Since.Equal(white.started.Round(0)) || h.Version != "test" {
		t.Errorf("white is shown as %+v, %v", h, err)
	}
	ping, err := control.PingHost.Ask(t.Context(), hub, control.PingRequest{Alias: "white", Within: within})
	if err != nil || ping.RTT <= 0 || ping.RTT.Duration() > within || ping.Clock.Duration().Abs() > ping.RTT.Duration()/2+10*time.Millisecond || ping.Version != "test" {
		t.Errorf("ping: %+v, %v", ping, err)
	}
	stop()
	h = seenAs(t, hub, "white", control.HostAway)
	if h.LastSeen.IsZero() || !h.Since.IsZero() || h.Version != "test" {
		t.Errorf("white that left is shown as %+v, want when it was seen and no since", h)
	}
	wantNoPing(t, hub, control.PingRequest{Alias: "white"}, control.KindFailed, "cannot ping white: it is away")
}

func wantNoPing(t *testing.T, n *Node, r control.PingRequest, kind control.Kind, text string) {
	t.Helper()
	_, err := control.PingHost.Ask(t.Context(), n, r)
	if e := control.AsError(err); err == nil || e.Kind != kind || !strings.Contains(e.Message+" "+e.Hint, text) {
		t.Errorf("ping %+v: %v, want %s with %q", r, err, kind, text)
	}
}

func TestPingOfTheWrongHost(t *testing.T) {
	n, _ := aHub(t)
	wantNoPing(t, n, control.PingRequest{Alias: "oracle-wold"}, control.KindNotFound, "did you mean oracle-world?")
	wantNoPing(t, n, control.PingRequest{Alias: strings.Repeat("x", 1<<20)}, control.KindNotFound, "the hosts of this fleet are oracle-world")
	wantNoPing(t, n, control.PingRequest{Alias: "oracle-world"}, control.KindUsage, "that is this host itself")
}

// A host that was killed is away as soon as its link has ended and it does not come back, whatever
// it said last. This holds at a hub that has no other link, and at a hub that has one. The hub's
// clock stands still, so that no time passes that could do it.
func TestAKilledHostIsAway(t *testing.T) {
	t.Parallel()
	stands := time.Now()
	hub, _ := runNodeAt(t, initHome(t, func(o *homes.Options) { o.Remote, o.Listen = bareRemote(t), "127.0.0.1:0" }),
		func() time.Time { return stands })
	for _, alias := range []string{"white", "black"} {
		n, _, _ := linkedTo(t, hub, alias)
		defer func() {
			if err := n.currentBus().Close(); err != nil {
				t.Fatal(err)
			}
			if h := seenAs(t, hub, alias, control.HostAway); h.LastSeen.IsZero() {
				t.Errorf("it is not said when %s was seen", alias)
			}
		}()
	}
	seenAs(t, hub, "white", control.HostLive)
	seenAs(t, hub, "black", control.HostLive)
}

// A host that is killed is soon away also for hosts that heard it through another host. Their clock
// stands still, so that no time passes that could do it.
func TestAKilledHostIsAwayForThoseBehindAnother(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	hub, _ := aHub(t)
	stands := time.Now()
	black, _ := runNodeAt(t, homeLinkedTo(t, hub, "black"), func() time.Time { return stands })
	white, _, _ := linkedTo(t, hub, "white")
	seenAs(t, black, "white", control.HostLive)
	seenAs(t, black, "oracle-world", control.HostLive)
	if err := white.currentBus().Close(); err != nil {
		t.Fatal(err)
	}
	// A last word of white may reach the hub after the news that its link has ended. Then the hub
	// itself would know by time alone.
	eventually(t, "the hub has noticed", func() bool {
		hub.presence.LookFor(t.Context(), "white", hub.now())
		_, live := hub.live.PresenceOf("white")
		return !live
	})
	seenAs(t, black, "white", control.HostAway)
	seenAs(t, black, "oracle-world", control.HostLive)
}

// A host stays live if its link is made anew at once, or if it is heard another way.
func TestAHostThatIsThereStaysLive(t *testing.T) {
	t.Parallel()
	hub, white := linkedPair(t)
	seen, _ := hub.live.PresenceOf("white")
	for _, ended := range []time.Time{seen.Seen.Add(-1), hub.now()} { // the host has spoken since; the host answers
		hub.presence.LookFor(t.Context(), "white", ended)
		if _, live := hub.live.PresenceOf("white"); !live {
			t.Errorf("%s is away, after a link that ended %s after its last word", white.cfg.Alias, ended.Sub(seen.Seen))
		}
	}
	hub.presence.LookFor(t.Context(), "", hub.now()) // the connection to an existing system was back in time
	if _, live := hub.live.PresenceOf("white"); !live {
		t.Error("white is away, although there is a link")
	}
}

func TestClockDifferenceIsMeasured(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	_, _, clock := linkedTo(t, hub, "white")
	clock.forward(3 * time.Minute)
	seenAs(t, hub, "white", control.HostLive)
	ping, err := control.PingHost.Ask(t.Context(), hub, control.PingRequest{Alias: "white", Within: within})
	if err != nil || (ping.Clock.Duration()-3*time.Minute).Abs() > ping.RTT.Duration()/2+10*time.Millisecond {
		t.Errorf("ping: %+v, %v, want a clock three minutes ahead", ping, err)
	}
	clock.forward(48 * time.Hour)
	wantNoPing(t, hub, control.PingRequest{Alias: "white"}, control.KindFailed, "from the clock of white")
}

func TestARevokedHostIsCalledSo(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	white, ended := runToItsEnd(t, homeLinkedTo(t, hub, "white"))
	seenAs(t, hub, "white", control.HostLive)
	revoke := fleet.Revoke{By: "oracle-world", Human: "nat", Of: protocol.HostKey{Host: "white", Key: white.signsWith.Load().Public}}
	if _, err := hub.decider.Act(t.Context(), revoke, protocol.Path{}); err != nil {
		t.Fatal(err)
	}
	h := seenAs(t, hub, "white", control.HostRevoked)
	if len(h.Keys) != 1 || h.Keys[0].Revoked.IsZero() || h.Keys[0].RevokedBy != "nat at oracle-world" || h.Keys[0].Fingerprint != h.Fingerprint {
		t.Errorf("white: %+v, want who revoked its key and when", h)
	}
	wantNoPing(t, hub, control.PingRequest{Alias: "white"}, control.KindRefused, "its key is revoked")
	if alias, revoked := hub.hosts.Revoked(white.signsWith.Load().Public); alias != "white" || !revoked {
		t.Errorf("the revoked key is that of %q: %v", alias, revoked)
	}
	if alias, revoked := hub.hosts.Revoked(hub.signsWith.Load().Public); revoked {
		t.Errorf("the key of %q is revoked", alias)
	}
	if row := fleetRows(t, hub)["white"]; row.State != control.HostRevoked || row.Answered || row.Problem != "" {
		t.Errorf("white in the fleet: %+v, want it revoked and not asked", row)
	}
	people, err := control.List.Ask(t.Context(), hub, control.HostsRequest{})
	if err != nil || len(people) != 1 {
		t.Errorf("these can be reached: %+v, %v, want nobody on white", people, err)
	}
	if err := awaited(t, "the end of white", ended); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("white ended with: %v", err)
	}
}

// Anybody who may push can add hosts of any name, with addresses where nobody answers. It prevents:
// a host that dials hundreds of those before the hub that is there.
func TestSeniorHubsAreDialledFirst(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	for i, alias := range []protocol.Name{"white", "a-stranger", "black"} {
		g := newGhost(t, n, alias)
		public, err := g.key.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		says := protocol.HostState{Host: alias, Key: public, Addresses: []string{fmt.Sprintf("192.0.2.%d:4223", i+1)}}
		join := g.sign(protocol.Message{
			From: alias.String(), To: []protocol.Address{{Name: alias.String()}}, Act: protocol.ActHostJoin,
			Body: protocol.FormatHost(protocol.ActHostJoin, says),
		}, n.system)
		n.Receive([]gitsync.MessageFile{join}, byGit)
		eventually(t, "the founder has vouched for it", func() bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			return len(n.state.Keys().Unvouched(n.cfg.Alias)) == 0 && len(n.state.Keys().Hosts()) == i+2
		})
	}
	var order []protocol.Name
	for _, hub := range n.hosts.Hubs.List() {
		order = append(order, hub.Alias)
	}
	if want := []protocol.Name{"white", "a-stranger", "black"}; !slices.Equal(order, want) {
		t.Errorf("dialled in the order %q, want %q", order, want)
	}
}

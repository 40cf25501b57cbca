package bus

import (
	"net"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

func TestLinkReturnsWhenTheHubRestarts(t *testing.T) {
	t.Parallel()
	hub, leaf := pair(t)
	links := hub.Addresses().Links
	if err := hub.Close(); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, "the link to be down", func() bool {
		got := leaf.Links()
		return len(got) == 1 && got[0].Out && !got[0].Up && got[0].Peer == "white at "+links && strings.Contains(got[0].Problem, "refused")
	})
	again := newHost(t, newFleet(), "white")
	again.opts.Key, again.opts.Trusted, again.opts.ServerID = hub.opts.Key, hub.opts.Trusted, hub.opts.ServerID
	again.opts.Links = links
	again.start(t)
	leaf.awaitLinked(t, 2)
	again.awaitLinked(t, 1)
	again.publish(t, 1)
	leaf.publish(t, 2)
	leaf.await(t, "the hub's message", func() bool { return len(leaf.messages) == 1 })
	again.await(t, "the leaf's message", func() bool { return len(again.messages) == 1 })
}

func TestLinksNameTheirPeers(t *testing.T) {
	t.Parallel()
	hub, leaf := pair(t)
	for _, end := range []struct {
		at, peer *host
		out      bool
	}{{hub, leaf, false}, {leaf, hub, true}} {
		awaitTrue(t, "a round trip", func() bool { l := end.at.Links(); return len(l) == 1 && l[0].RTT > 0 })
		got := onlyLink(t, end.at)
		want := Link{
			Peer: end.peer.alias.String() + "-" + end.peer.opts.ServerID, Host: end.peer.alias, Out: end.out, Up: true,
			Address: got.Address, RTT: got.RTT, Since: got.Since,
		}
		if got != want || got.Since.IsZero() || got.Address == "" || end.out && got.Address != end.peer.Addresses().Links {
			t.Errorf("Links() = %+v, want %+v", got, want)
		}
	}
}

// A hub that is down must not keep a host from the next hub. An address at which a hub is not
// reached must not keep the host from the hub's other addresses.
func TestSecondHubIsUsedWhenTheFirstIsDown(t *testing.T) {
	f := newFleet()
	hub := newHost(t, f, "white")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	links := hub.Addresses().Links
	for alias, hubs := range map[protocol.Name]func() []Hub{
		"black": at(closedPort(t), links),
		"grey": func() []Hub {
			return []Hub{{Alias: hub.alias, Keys: []string{publicKey(t, hub.opts.Key)}, Addresses: []string{closedPort(t), "nowhere.invalid:1", links}}}
		},
	} {
		leaf := newHost(t, f, alias)
		leaf.opts.Hubs = hubs
		leaf.start(t).awaitLinked(t, 1)
	}
}

// closedPort returns an address of this machine where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestThreeHostsHearEachOtherThroughTheHub(t *testing.T) {
	f := newFleet()
	hub := newHost(t, f, "white")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	var leaves []*host
	for _, alias := range []protocol.Name{"black", "grey"} {
		leaf := newHost(t, f, alias)
		leaf.opts.Hubs = hubsOf(t, hub)
		leaves = append(leaves, leaf.start(t))
		leaf.awaitLinked(t, 1)
		hub.awaitLinked(t, 1)
	}
	awaitTrue(t, "both links", func() bool {
		l := hub.Links()
		return len(l) == 2 && l[0].Up && l[1].Up
	})
	leaves[0].publish(t, 1)
	leaves[1].await(t, "the message across the hub", func() bool { return len(leaves[1].messages) == 1 })
	hub.await(t, "the message", func() bool { return len(hub.messages) == 1 })
}

// One list of hubs serves all hosts, so a hub finds itself in it.
func TestHubDoesNotDialItself(t *testing.T) {
	h := newHost(t, newFleet(), "white")
	other := closedPort(t)
	port := portOf(t, closedPort(t))
	h.opts.Links = "127.0.0.1:" + port
	h.opts.Hubs = at("127.0.0.1:"+port, "localhost:"+port, other, other)
	h.start(t)
	if got := h.Links(); len(got) != 1 || got[0].Peer != other {
		t.Errorf("Links() = %+v, want only a link to %s", got, other)
	}
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := protocol.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(int(port))
}

func TestSameListener(t *testing.T) {
	for _, c := range []struct {
		dialled, own string
		want         bool
	}{
		{"127.0.0.1:7423", "127.0.0.1:7423", true},
		{"127.0.0.1:7424", "127.0.0.1:7423", false},
		{"127.0.0.2:7423", "127.0.0.1:7423", false},
		{"127.0.0.1:7423", "0.0.0.0:7423", true},
		{"127.0.0.1:7423", "[::]:7423", true},
		{"[::1]:7423", "127.0.0.1:7423", false},
		{"192.0.2.1:7423", "0.0.0.0:7423", false},
		{"localhost:7423", "127.0.0.1:7423", true},
	} {
		if got := sameListener(c.dialled, c.own); got != c.want {
			t.Errorf("sameListener(%s, %s) = %v, want %v", c.dialled, c.own, got, c.want)
		}
	}
}

// A loop through another name or a forwarded port cannot be seen from the address. It is seen from
// the key.
func TestLinkToOurselvesIsRefused(t *testing.T) {
	f := newFleet()
	hub, twin := newHost(t, f, "white"), newHost(t, f, "white")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	twin.opts.Key = hub.opts.Key
	twin.opts.Hubs = at(hub.Addresses().Links)
	twin.start(t)
	awaitTrue(t, "the refusal", func() bool {
		l := twin.Links()
		return len(l) == 1 && !l[0].Up && strings.Contains(l[0].Problem, "this host itself")
	})
	if got := hub.Links(); len(got) != 0 {
		t.Errorf("Links() = %+v, want none", got)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	hub, leaf := pair(t)
	leaf.publish(t, 1)
	hub.await(t, "the message", func() bool { return len(hub.messages) == 1 })
	for _, h := range []*host{leaf, hub, leaf, hub} {
		if err := h.Close(); err != nil {
			t.Errorf("closing %s: %v", h.alias, err)
		}
	}
	m, data := message(t, leaf, 2)
	if err := leaf.Publish(m, data); err == nil {
		t.Error("a closed bus published")
	}
	defer func() {
		if t.Failed() {
			var stacks strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Log(stacks.String())
		}
	}()
	awaitTrue(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

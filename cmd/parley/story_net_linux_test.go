package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/netrig"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// The network between the hosts breaks in two while both sides speak. It prevents: a message that
// only one side ever has, an agent that answers twice, a record that forks.
func TestPartition(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, soak(3, 5))
	f.sayAll(2)
	left := []*netrig.Host{f.hosts[0].at}
	right := []*netrig.Host{f.remote.Host}
	for _, h := range f.hosts[1:] {
		right = append(right, h.at)
	}
	f.net.Break(netrig.Apart(left, right)...)
	f.during(soak(0, time.Minute), func() { f.sayAll(10) })
	f.await("one side has pushed what it said", scratch.Patience(), func() bool { return f.pushed(f.hosts[1:]...) })
	if f.pushed(f.hosts[0]) {
		t.Fatal("the network was whole")
	}
	f.net.Break()
	f.sayAll(2)
	f.settled("the network had healed")
	f.same()
}

// The network loses packets, in all directions, while every host speaks.
func TestLossyNetwork(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("SKIPPED: takes minutes: set PARLEY_SOAK=1")
	}
	for _, percent := range []int{5, 20} {
		t.Run(fmt.Sprintf("%d percent", percent), func(t *testing.T) {
			f := newLinkedFleet(t, 5)
			f.net.Break(netrig.Lose(percent))
			f.during(time.Minute, func() { f.sayAll(1) })
			for _, h := range f.hosts {
				t.Logf("%s has not heard %d of %d while the network still loses", h.alias, f.unheardBy(h), len(f.sent))
			}
			f.net.Break()
			f.settled("the network lost nothing any more")
			f.same()
		})
	}
}

// Sixteen hosts write into one remote at once.
func TestSixteenWriters(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("SKIPPED: takes a minute: set PARLEY_SOAK=1")
	}
	f := newNetFleet(t, 16)
	var saying sync.WaitGroup
	for i, h := range f.hosts {
		saying.Go(func() { f.say(h, "nat-"+f.hosts[(i+1)%len(f.hosts)].alias, 100) })
	}
	saying.Wait()
	f.settled("sixteen hosts had said 100 things each")
	f.same()
}

// The remote is out of reach for all hosts and there is no bus, while every host speaks. It
// prevents: a host that does not come back by itself, or that loses what it was told meanwhile.
func TestRemoteOutOfReach(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("SKIPPED: takes a minute: set PARLEY_SOAK=1")
	}
	f := newNetFleet(t, 3)
	f.net.Break(f.fromRemote(f.hosts...)...)
	f.during(soak(0, time.Minute), func() { f.sayAll(10) })
	if f.pushed(f.hosts...) {
		t.Fatal("the network was whole")
	}
	f.net.Break()
	f.settle()
	f.same()
}

// A host is off while the others say a thousand things to its human and ask its agent something. It
// gets all of them when it comes back, and its agent answers.
func TestAwayDuringAThousandMessages(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	f := newNetFleet(t, 3)
	f.away(f.hosts[2], soak(1000, 10_000))
}

// away has a host be off while the others say n things to it.
func (f *netFleet) away(off *netHost, n int) {
	f.t.Helper()
	off.stop()
	for _, h := range f.hosts {
		if h != off {
			f.say(h, "nat-"+off.alias, n/2)
			f.say(h, "echo-"+off.alias+"@"+off.alias, 20)
		}
	}
	f.await("the others have pushed", scratch.Patience(), func() bool { return f.pushed(f.hosts...) })
	off.start()
	f.settled(fmt.Sprintf("%s was started again, after %d messages", off.alias, n))
	f.same()
}

// seconds is the time within which a dead link must be noticed, and a mended link used again.
const seconds = 15 * time.Second

// A host's link to the bus goes silent without an end: nothing comes, and nothing is refused. Then
// only one direction is lost. It prevents: a node that waits minutes for a dead link, and that
// calls hosts live that are not.
func TestSilentLink(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	f := newLinkedFleet(t, 3)
	lost := f.hosts[1]
	ways := map[string][]netrig.Fault{"a deaf host": f.deaf(lost)}
	if os.Getenv("PARLEY_SOAK") != "" {
		ways["a host that is not heard"] = f.unheard(lost)
	}
	for name, faults := range ways {
		f.net.Break(faults...)
		f.took(name+" notices", seconds, func() bool { return !lost.linkUp() })
		f.net.Break()
		f.took(name+" is back", seconds, f.linked)
	}
	f.net.Break(f.fromBus(lost)...)
	f.took("a host whose link is silent notices", seconds, func() bool { return !lost.linkUp() })
	lost.probed(f.hosts[0], "route")
	f.sayAll(5)
	f.settled("that, by git")
	f.took("all count it as away", 2*seconds, func() bool { return f.alone(lost) })
	f.net.Break()
	f.took("it is back", seconds, f.linked)
	f.sayAll(5)
	f.settle()
	f.same()
}

// The host to which all others are linked dies without a word. The others find each other again
// without it, and it finds them.
func TestHubKilled(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, soak(3, 5))
	hub := f.hosts[1] // the first by alias of those that listen
	left := slices.DeleteFunc(slices.Clone(f.hosts), func(h *netHost) bool { return h == hub })
	if !slices.ContainsFunc(left, func(h *netHost) bool { return h.linkedTo(hub) }) {
		t.Errorf("nobody is linked to %s", hub.alias)
	}
	left[0].probed(hub, "")
	hub.kill()
	left[0].probed(hub, "refused")
	f.took("the others are linked without the hub", seconds, func() bool {
		return f.live(left...) && !slices.ContainsFunc(left, func(h *netHost) bool { return h.linkedTo(hub) })
	})
	for i, h := range left {
		f.hears(h, left[(i+1)%len(left)])
		f.say(h, "nat-"+hub.alias, 5)
		f.say(h, "echo-"+hub.alias+"@"+hub.alias, 1)
	}
	hub.start()
	f.took("the hub is linked again", seconds, f.linked)
	for _, h := range left {
		f.hears(hub, h)
		f.hears(h, hub)
	}
	f.settle()
	f.same()
}

// The remote is out of reach while the bus is up. Every host hears everything at once, and git gets
// it later.
func TestBusWithoutRemote(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, 3)
	f.net.Break(f.fromRemote(f.hosts...)...)
	f.during(soak(0, time.Minute), func() { f.sayAll(10) })
	f.took("all have heard all", seconds, func() bool { return f.heardAll(f.hosts...) })
	if f.pushed(f.hosts...) {
		t.Fatal("the network was whole")
	}
	f.net.Break()
	f.settled("the remote was back")
	f.same()
}

// The bus is down for all hosts while the remote is up. Git alone carries everything.
func TestRemoteWithoutBus(t *testing.T) {
	t.Parallel()
	f := newSystemFleet(t, 3)
	f.net.Break(f.fromBus(f.hosts...)...)
	f.during(soak(0, time.Minute), func() { f.sayAll(10) })
	f.took("all notice", seconds, func() bool { return !slices.ContainsFunc(f.hosts, (*netHost).linkUp) })
	f.settled("all was said without the bus")
	f.net.Break()
	f.took("all are live again", seconds, f.linked)
	f.sayAll(2)
	f.settle()
	f.same()
}

// heardAll reports whether each of these hosts has what any host said.
func (f *netFleet) heardAll(hosts ...*netHost) bool {
	return !slices.ContainsFunc(hosts, func(h *netHost) bool { return f.unheardBy(h) > 0 })
}

// unheardBy returns how many of the messages that were said a host does not have.
func (f *netFleet) unheardBy(h *netHost) int {
	there := map[protocol.Path]bool{}
	for _, m := range h.log() {
		there[m.Path] = true
	}
	missing := 0
	for p := range f.sent {
		if !there[p] {
			missing++
		}
	}
	return missing
}

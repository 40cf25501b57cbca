package main

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/netrig"
)

// The network between the hosts breaks in two while both sides speak. It prevents:
// a message that one side has for ever, an agent that answers twice, a record that
// forks.
func TestPartition(t *testing.T) {
	t.Parallel()
	f := newNetFleet(t, soak(3, 5))
	f.sayAll(2)
	left := []*netrig.Host{f.hosts[0].at}
	right := []*netrig.Host{f.remote.Host}
	for _, h := range f.hosts[1:] {
		right = append(right, h.at)
	}
	f.net.Break(netrig.Apart(left, right)...)
	f.during(soak(0, time.Minute), func() { f.sayAll(10) })
	f.await("one side has pushed what it said", netPatience, func() bool { return f.pushed(f.hosts[1:]...) })
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
			f := newNetFleet(t, 5)
			f.net.Break(netrig.Lose(percent))
			f.during(time.Minute, func() { f.sayAll(1) })
			f.settled("the last was said, on a network that goes on losing")
			f.net.Break()
			f.settle()
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

// The remote is out of reach for all, while every host speaks. It prevents: a host
// that does not come back by itself, or loses what it was told meanwhile.
func TestRemoteOutOfReach(t *testing.T) {
	t.Parallel()
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

// A host is off while others say a thousand things, and is owed answers. It comes
// back to all of them.
func TestAwayDuringAThousandMessages(t *testing.T) {
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
	f.await("the others have pushed", netPatience, func() bool { return f.pushed(f.hosts...) })
	off.start()
	f.settled(fmt.Sprintf("%s was started again, after %d messages", off.alias, n))
	f.same()
}

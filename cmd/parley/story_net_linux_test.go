package main

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/netrig"
)

// The network between the hosts breaks in two while both sides speak. It prevents:
// a message that one side has for ever, an agent that answers twice, a record that
// forks.
func TestPartition(t *testing.T) {
	t.Parallel()
	f := newNetFleet(t, "white", "black", "grey")
	f.sayAll(2)
	left := []*netrig.Host{f.hosts[0].at}
	right := []*netrig.Host{f.hosts[1].at, f.hosts[2].at, f.remote.Host}
	f.net.Break(netrig.Apart(left, right)...)
	f.sayAll(20)
	f.await("one side has pushed what it said", netPatience, func() bool { return f.pushed(f.hosts[1:]...) })
	if f.pushed(f.hosts[0]) {
		t.Fatal("the network was whole")
	}
	f.net.Break()
	healed := time.Now()
	f.sayAll(2)
	f.settle()
	t.Logf("all was the same %s after the network had healed", time.Since(healed).Round(time.Millisecond))
	f.same()
}

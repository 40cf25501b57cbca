package node

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// The first word on the bus of a host that has just joined is refused by hosts that
// do not have its key yet. It prevents: that they take it for away until it happens
// to speak again.
func TestAHostThatJoinedIsAskedFor(t *testing.T) {
	n, err := Open(t.Context(), Options{Home: initHome(t, nil), Version: "test", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	announces := func() bool {
		select {
		case <-n.presence.greet:
			return true
		default:
			return false
		}
	}
	join := func(host protocol.Name) *fleet.Item {
		return &fleet.Item{File: keys.File{Message: protocol.Message{Act: protocol.ActHostJoin, Host: host}}}
	}
	n.presence.missed(join("oracle-world")) // this host itself
	if announces() {
		t.Error("it asks for itself")
	}
	n.presence.missed(join("white"))
	if want := []protocol.Name{"white"}; !announces() || !cmp.Equal(want, n.live.takeMissing()) || n.live.takeMissing() != nil {
		t.Error("it does not ask once for the host that joined")
	}
	heard := func(wants ...protocol.Name) {
		n.presence.sawHost(bus.Presence{Host: "white", Live: true, Run: "1", Sent: time.Now(), Seen: time.Now(), Wants: wants})
	}
	heard()
	if !announces() {
		t.Error("it does not greet a host that came")
	}
	n.presence.missed(join("white"))
	heard("black")
	if announces() {
		t.Error("it asks for a host that it hears, or answers for another")
	}
	heard("black", "oracle-world")
	if !announces() {
		t.Error("it does not answer who wants to hear it")
	}
}

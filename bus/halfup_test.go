package bus

import "testing"

// A link that is connected, but through which the peer does not hear the fleet, is
// neither up nor down, and is called so until it hears.
func TestALinkIsHalfUpUntilThePeerHears(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	_, conn, _ := strangeServer(t, "black-strange", sideDoor(t, hub, third, false))
	awaitTrue(t, "the link is half up", func() bool {
		l := hub.Links()
		return len(l) == 1 && l[0].HalfUp && !l[0].Up && l[0].Host == "black" && l[0].Problem == halfUp
	})
	subscribe(t, conn, "parley.dawn.>")
	awaitTrue(t, "the link is up", func() bool {
		l := hub.Links()
		return len(l) == 1 && l[0].Up && !l[0].HalfUp && l[0].Problem == ""
	})
	hub.awaitLinked(t, 1)
}

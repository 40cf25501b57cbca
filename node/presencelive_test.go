package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: fifty hosts that all tell all others at once that they have heard
// what was for all, and are busy with nothing else.
func TestOnlyAFewSayAtOnceThatTheyHeard(t *testing.T) {
	now := time.Now()
	l := newLive(func() time.Time { return now })
	for i := range smallFleet + 1 {
		if l.crowded() {
			t.Errorf("%d hosts are a crowd", i)
		}
		l.see(bus.Presence{Host: protocol.Name(fmt.Sprintf("host%d", i)), Live: true, Seen: now})
	}
	if !l.crowded() {
		t.Errorf("%d hosts are no crowd", smallFleet+1)
	}
	now = now.Add(presenceLasts)
	if l.crowded() {
		t.Error("hosts that are gone are a crowd")
	}
}

// A host that tells of very many messages, be there any or not, has what others told
// forgotten no sooner. It prevents: that one host hides who has heard what.
func TestWhoTellsMostIsForgottenFirst(t *testing.T) {
	l := newLive(time.Now)
	channel := protocol.DeriveChannel("record", "a", "b")
	path := func(i int) protocol.Path { return protocol.NewPath(channel, time.Unix(1e9, 0), uint32(i)) }
	var honest, lies []protocol.Path
	for i := range 3 * maxHeard {
		if i < 100 {
			honest = append(honest, path(i))
		} else {
			lies = append(lies, path(i))
		}
	}
	l.hear("white", honest)
	l.hear("eve", append(lies, honest[0]))
	for _, p := range honest {
		if by := l.hearers(p); len(by) == 0 || by[len(by)-1] != "white" {
			t.Fatalf("%s was heard by %v", p, by)
		}
	}
	if len(l.heard) != maxHeard || len(l.order["eve"]) != maxHeard-len(honest) || len(l.hearers(lies[0])) > 0 {
		t.Errorf("%d messages are remembered, %d of one host", len(l.heard), len(l.order["eve"]))
	}
	l.hear("white", lies[len(lies)-1:])
	l.hear("black", []protocol.Path{path(3*maxHeard + 1)})
	if by := l.hearers(lies[len(lies)-1]); len(by) != 2 || len(l.heard) != maxHeard {
		t.Errorf("what two have told was heard by %v", by)
	}
}

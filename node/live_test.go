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

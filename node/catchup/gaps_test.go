package catchup

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// A host that tells of holes that are none is asked a few times, with growing pauses. It holds up
// the holes of no other host. It prevents: a lying host keeps the fleet busy.
func TestGapsAreBounded(t *testing.T) { synctest.Test(t, testGapsAreBounded) }

func testGapsAreBounded(t *testing.T) {
	g := newGaps()
	lie := func(host, by protocol.Name, n int) {
		g.add(by, keys.Gap{Host: host, Hash: protocol.Hash([]byte(fmt.Sprint(n)))}, End{})
	}
	for n := range 1000 {
		lie("white", "eve", n)
		lie(protocol.Name(fmt.Sprint("h", n)), "eve", n)
	}
	if open := wanted(g); len(g.chains) != gapChains || open != mostOfOne+gapChains-1 {
		t.Errorf("%d holes of %d chains are remembered", open, len(g.chains))
	}
	if due, _ := g.take(9); len(due) > 0 {
		t.Errorf("%v are asked for before they could close by themselves", due)
	}
	key := told{"white", "eve"}
	for range gapTries {
		if wants, _ := g.of(key); len(wants) != mostOfOne {
			t.Fatalf("%d holes are left to ask for", len(wants))
		}
		g.rest(key, outcome{})
	}
	wants, _ := g.of(key)
	if _, _, givenUp := g.counts(); len(wants) != 0 || givenUp != mostOfOne {
		t.Errorf("%d are asked for still, %d were given up", len(wants), givenUp)
	}
	lie("white", "eve", 7)
	if pause := time.Until(g.chains[key].due); pause < 5*time.Second {
		t.Errorf("the next lie is asked for in %s", pause)
	}
}

// A host that tells of holes in very many chains, and has others wait for its answers, leaves room
// for what other hosts tell. It prevents: one host keeps the holes of all others from being mended.
func TestLiarLeavesRoomForOtherGaps(t *testing.T) {
	g := newGaps()
	tell := func(host, by protocol.Name) {
		g.add(by, keys.Gap{Host: host, Hash: protocol.Hash([]byte(host))}, End{})
		if c := g.chains[told{host, by}]; c != nil {
			c.due = time.Now().Add(-time.Second)
		}
	}
	for n := range 2 * gapChains {
		tell(protocol.Name(fmt.Sprint("h", n)), "eve")
	}
	if due, _ := g.take(atOnce); len(due) != atOnce-1 {
		t.Errorf("%d chains are mended at once that eve tells of", len(due))
	}
	tell("white", "white")
	if len(g.chains) != gapChains {
		t.Errorf("%d chains are remembered", len(g.chains))
	}
	if due, _ := g.take(1); len(due) != 1 || due[0].By != "white" {
		t.Errorf("%v is mended, want the hole that white tells of", due)
	}
	for key := range g.chains {
		if key.By == "eve" && g.chains[key].busy {
			g.rest(key, outcome{})
		}
	}
	if due, _ := g.take(atOnce); len(due) != atOnce-1 {
		t.Errorf("%d more of what eve tells of are mended", len(due))
	}
}

// A host that is asked too much says so. It is left alone for as long as it says, and asked again.
// That is no attempt in vain, but it does not go on for ever. It prevents: a chain is given up
// because it is long, and a host keeps another one asking.
func TestBusyHostIsAskedLater(t *testing.T) {
	g := newGaps()
	key := told{"white", "eve"}
	g.add(key.By, keys.Gap{Host: key.Host, Hash: protocol.Hash([]byte("x"))}, End{})
	for range 10 * gapBusy {
		g.rest(key, outcome{Progress: true, Busy: time.Hour})
	}
	c := g.chains[key]
	if pause := time.Until(c.due); c.fails != 0 || pause < 50*time.Minute {
		t.Errorf("it counts %d in vain, and is asked again in %s", c.fails, pause)
	}
	for range gapTries * (gapBusy + 1) {
		g.rest(key, outcome{Busy: time.Second})
	}
	if _, _, givenUp := g.counts(); givenUp != 1 {
		t.Error("who says for ever that it is asked too much is asked for ever")
	}
}

// wanted is how many gaps are known.
func wanted(g *gaps) (open int) {
	for _, c := range g.chains {
		open += len(c.wants)
	}
	return open
}

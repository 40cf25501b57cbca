package bus

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Of three hubs, only the last one reaches the second one. The first one, of bad intent, links up
// to the last one, which may then dial nobody. It prevents: a hub that keeps the two others apart
// for as long as it wants.
func TestALinkUpKeepsNobodyFromOthers(t *testing.T) {
	t.Parallel()
	f := newForest(t, []bool{true, true, true})
	liar, other, hub := f.hosts[0], f.hosts[1], f.hosts[2]
	reaches := func(a, b *host) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reach[[2]*host{a, b}] = true
	}
	reaches(liar, hub)
	heard := byTheTest(hub)
	for _, h := range f.hosts {
		f.up(h)
	}
	hub.Bus.opts.Heard = heard
	f.linkedUp(liar, hub)
	reaches(hub, liar)
	now := time.Now()
	seen := &rejoin{done: map[protocol.Name]time.Time{other.alias: now}}
	for _, after := range []time.Duration{0, time.Minute} {
		if hub.dialler.look(seen, now.Add(after)); !hub.tree.linkedUp() {
			t.Errorf("a link up ended, and there is nobody else to link")
		}
	}
	reaches(hub, other)
	for _, after := range []time.Duration{2 * time.Minute, rejoinRest - 1} {
		if hub.dialler.look(seen, now.Add(after)); !hub.tree.linkedUp() || !seen.apart[other.alias] || len(seen.apart) > 1 {
			t.Errorf("a link up ended again %s after it had for the same host, or %v are apart", after, seen.apart)
		}
	}
	hub.dialler.look(seen, now.Add(rejoinRest))
	awaitTrue(t, "the hub to dial the other", func() bool { o := hub.tree.dialled(); return o != nil && o.host == other.alias })
	f.check("at last", 1)
	if f.root(hub) != other || f.root(liar) != liar {
		t.Errorf("the hub is below %s, and who kept it from that below %s", f.root(hub).alias, f.root(liar).alias)
	}
}

// byTheTest keeps a host that starts now from looking by itself. So no looks happen but those of
// the test, however long it takes. The returned function says what the host hears.
func byTheTest(h *host) (heard func(protocol.Name) bool) {
	heard, h.opts.Heard = h.opts.Heard, nil
	return heard
}

// linkedUp waits until a link up is whole. A host that takes a link up dials nobody from the moment
// when it has agreed to it. At that moment neither side has the link yet.
func (f *forest) linkedUp(from, to *host) {
	f.Helper()
	awaitTrue(f.T, "the link up", func() bool { return to.tree.linkedUp() && f.root(from) == to && to.linkedHere()[from.alias] })
}

// A hub that is heard already is no reason to end a link up. One look is not enough either.
func TestALinkUpStaysWhereAllAreHeard(t *testing.T) {
	t.Parallel()
	f := newForest(t, []bool{true, true, true})
	first, second, hub := f.hosts[0], f.hosts[1], f.hosts[2]
	f.reach[[2]*host{first, hub}], f.reach[[2]*host{hub, second}] = true, true
	heard := false
	byTheTest(hub)
	f.up(first)
	f.up(hub)
	hub.Bus.opts.Heard = func(protocol.Name) bool { return heard }
	f.linkedUp(first, hub)
	f.up(second)
	seen := &rejoin{done: map[protocol.Name]time.Time{}}
	for _, heard = range []bool{false, true, false, true} {
		if hub.dialler.look(seen, time.Now()); !hub.tree.linkedUp() || seen.apart[second.alias] == heard {
			t.Errorf("heard: %v; a link up ended, or %v are apart", heard, seen.apart)
		}
	}
}

package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// knots are the given messages and all that come after them, by reference or chain. They are in an
// order in which each one stands behind everything among them that it comes after. Messages whose
// references run in a circle are one knot; every other message is a knot alone. Messages that are
// no longer in the state are passed over.
//
// It is Tarjan's search for strongly connected components, without recursion because chains are
// long.
func (l *Ledger) knots(from []*Item) [][]*Item {
	t := tangle{ledger: l, seen: map[protocol.Path]*visit{}}
	for _, it := range from {
		if now := l.at(it.Path); t.seen[it.Path] == nil && now != nil && now.Hash == it.Hash {
			t.walk(now)
		}
	}
	slices.Reverse(t.knots)
	return t.knots
}

// tangle is a search under way.
type tangle struct {
	ledger *Ledger
	seen   map[protocol.Path]*visit
	open   []*visit  // seen, and not yet in a knot
	knots  [][]*Item // the last first
}

// visit is what the search knows of one message.
type visit struct {
	it     *Item
	todo   []*Item // what comes after the message and has not been looked at
	number int     // in the order of discovery
	lowest int     // the earliest open message that can be reached from it
	at     int     // its index among the open ones
	closed bool    // it is in a knot
}

func (t *tangle) enter(it *Item) *visit {
	v := &visit{it: it, todo: t.ledger.after(it), number: len(t.seen), lowest: len(t.seen), at: len(t.open)}
	t.seen[it.Path] = v
	t.open = append(t.open, v)
	return v
}

// walk visits `it` and everything after it.
func (t *tangle) walk(it *Item) {
	for way := []*visit{t.enter(it)}; len(way) > 0; {
		v := way[len(way)-1]
		if len(v.todo) == 0 {
			way = way[:len(way)-1]
			if len(way) > 0 {
				back := way[len(way)-1]
				back.lowest = min(back.lowest, v.lowest)
			}
			t.leave(v)
			continue
		}
		next := v.todo[0]
		v.todo = v.todo[1:]
		switch known := t.seen[next.Path]; {
		case known == nil:
			way = append(way, t.enter(next))
		case !known.closed:
			v.lowest = min(v.lowest, known.number)
		}
	}
}

// leave closes the knot of `v` if `v` is the first message of that knot.
func (t *tangle) leave(v *visit) {
	if v.lowest != v.number {
		return
	}
	var knot []*Item
	for _, member := range t.open[v.at:] {
		member.closed = true
		knot = append(knot, member.it)
	}
	t.open = t.open[:v.at]
	t.knots = append(t.knots, knot)
}

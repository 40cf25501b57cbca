package fleet

import (
	"container/heap"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

type stand struct {
	place time.Time // in the order of the record
	// reach is the place that the message would have if far dates counted too. It is later than the
	// reach of everything that comes before the message by any reference. So it shows circles,
	// which `place` need not show. Nobody outside sees it.
	reach time.Time
}

func (a stand) equal(b stand) bool { return a.place.Equal(b.place) && a.reach.Equal(b.reach) }

// standOf is where a message belongs. Its place is the latest of these times: its timestamp, and
// one millisecond after the place of each message to which it refers, and of its host's message
// before it. So an answer never sorts before its question, whatever the clocks say.
//
// A reference within `circle` does not count. That is the circle of references in which the message
// is, if any; only a mischievous writer makes one. A message that is dated farther ahead than
// clocks are apart does not count either, whoever signed it. Otherwise its date would move every
// answer to it to the end of the record for ever, and so everything that the answering hosts write
// from then on. Only the message of the same host before it counts whatever its date, because that
// date came from the host's own clock.
func (l *Ledger) standOf(it *Item, circle map[protocol.Path]bool) stand {
	own := stand{it.Timestamp, it.Timestamp}
	for _, other := range l.before(it) {
		if other.Path == it.Path || circle[other.Path] {
			continue
		}
		at := other.newStand()
		own.reach = latest(own.reach, at.reach.Add(time.Millisecond))
		if t := at.place.Add(time.Millisecond); t.Sub(it.Timestamp) <= ClockReach || it.follows(other) {
			own.place = latest(own.place, t)
		}
	}
	return own
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// follows reports whether `other` is the message that the host of `it` wrote before it. If another
// host wrote it, it is not, even if prev names it.
func (it *Item) follows(other *Item) bool {
	return it.Sealed && other.Sealed && it.Host == other.Host && it.Prev == other.Hash
}

// ClockReach is how far the clocks of hosts may be apart without harm: a day and a half.
const ClockReach = 36 * time.Hour

// newStand is where the message goes or, if it does not move, where it is.
func (it *Item) newStand() stand {
	if it.moving {
		return it.next
	}
	return stand{it.Place, it.reach}
}

// before are the messages to which `it` refers and the one that it follows, as far as they are
// there.
func (l *Ledger) before(it *Item) []*Item {
	var all []*Item
	if p, ok := it.AnsweredPath(); ok {
		all = append(all, l.at(p))
	}
	if p, ok := it.ReadPath(); ok {
		all = append(all, l.at(p))
	}
	if it.Prev != "" {
		all = append(all, hashed.find(l, it.Prev)...)
	}
	return slices.DeleteFunc(all, func(it *Item) bool { return it == nil })
}

// after are the messages that refer to `it` or follow it.
func (l *Ledger) after(it *Item) []*Item {
	return slices.Concat(answering.find(l, it.Path), receipts.find(l, it.Path), following.find(l, it.Hash))
}

// settle gives a place to each message that has come since the last time. It also moves the
// messages that stand behind such a message, or behind one that is gone.
func (l *Ledger) settle() {
	from := l.unsettled
	l.unsettled = nil
	moving, ok := []*Item(nil), false
	if !l.circled {
		moving, ok = l.relax(from)
	}
	if !ok {
		moving = l.untangle(from)
	}
	l.move(moving)
}

// untangle places messages together with all that come after them. It can place circles.
func (l *Ledger) untangle(from []*Item) (moving []*Item) {
	for _, knot := range l.knots(from) {
		circle := circleOf(knot)
		l.circled = l.circled || circle != nil
		for _, it := range knot {
			if at := l.standOf(it, circle); !it.placed || !at.equal(it.newStand()) {
				it = l.own(it)
				it.moving, it.next = true, at
				moving = append(moving, it)
			}
		}
	}
	return moving
}

// circleOf is the messages of a knot, if the knot is a circle.
func circleOf(knot []*Item) map[protocol.Path]bool {
	if len(knot) == 1 {
		return nil
	}
	circle := map[protocol.Path]bool{}
	for _, it := range knot {
		circle[it.Path] = true
	}
	return circle
}

// patience is how many messages relax looks at beyond those to be placed, before it assumes that
// references run in a circle. If they do not, then more messages than that stand behind one that
// came very late.
const patience = 100_000

// relax places messages. Of those that come after them, it moves only what has to move. At the end
// every message stands where the messages before it require. Then none is in a circle, and there is
// only one such order. `ok` is false if it does not get there; then it has placed nothing.
func (l *Ledger) relax(from []*Item) (moving []*Item, ok bool) {
	var todo agenda
	look := func(it *Item) {
		if held := l.items[it.Path]; held != nil {
			it = held
		}
		at := l.standOf(it, nil)
		if (it.placed || it.moving) && at.equal(it.newStand()) {
			return
		}
		it = l.own(it)
		if !it.moving {
			moving = append(moving, it)
		}
		it.moving, it.next = true, at
		for _, other := range l.after(it) {
			if to := l.standOf(other, nil); (other.placed || other.moving) && !to.equal(other.newStand()) {
				heap.Push(&todo, task{other, to})
			}
		}
	}
	left := 2*len(from) + min(patience, 4*l.Len())
	// Messages that come together usually come in their order. Then each is looked at once.
	for _, it := range from {
		if now := l.at(it.Path); now != nil && now.Hash == it.Hash {
			look(now)
			left--
		}
	}
	for ; len(todo) > 0; left-- {
		if left == 0 {
			for _, it := range moving {
				it.moving = false
			}
			return nil, false
		}
		look(heap.Pop(&todo).(task).it)
	}
	return moving, true
}

// task is a message that may have to move, and its new place.
type task struct {
	it *Item
	to stand
}

// agenda is a heap of tasks. The one with the smallest reach comes first, because the others may
// come after it.
type agenda []task

// Len, Less, Swap, Push and Pop make agenda a heap.
func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].to.reach.Before(a[j].to.reach) }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(task)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (l *Ledger) move(moving []*Item) {
	of := map[*sequence][]*Item{}
	for _, it := range moving {
		for _, q := range l.sequences(it) {
			of[q] = append(of[q], it)
		}
	}
	for q, items := range of {
		q.takeOut(items)
	}
	for _, it := range moving {
		l.changes.placed(it, it.next.place)
		if it.placed {
			l.moved(it, it.Place)
		}
		l.moved(it, it.next.place)
		it.Place, it.reach, it.placed, it.moving = it.next.place, it.next.reach, true, false
	}
	for q, items := range of {
		q.putIn(items)
	}
}

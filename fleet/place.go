package fleet

import (
	"container/heap"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// stand is where a message stands.
type stand struct {
	place time.Time // in the order of the record
	// reach is what place would be if far dates counted too. It is later than that of
	// everything which comes before the message by any reference, so it shows circles,
	// which a place that leaves far dates out need not. Nobody is told of it.
	reach time.Time
}

func (a stand) equal(b stand) bool { return a.place.Equal(b.place) && a.reach.Equal(b.reach) }

// standOf is where a message belongs. Its place is the latest of its timestamp and, plus one
// millisecond each, the places of the messages it refers to and of its host's message before it.
// So an answer never sorts before its question, whatever the clocks say. References that run in a
// circle, which only a mischievous writer makes, do not count: circle is the one that the message
// is in, if any. Nor does a message that is dated farther ahead than clocks are apart, whoever
// signed it. Else its date would take every answer to it, and all that the answering hosts write
// from then on, to the end of the record for ever. Only the host's own message before it counts
// whatever its date: that came from the host's own clock.
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

// follows reports whether other is the message that the host wrote before it. What
// anybody else wrote is not, though prev names it.
func (it *Item) follows(other *Item) bool {
	return it.Sealed && other.Sealed && it.Host == other.Host && it.Prev == other.Hash
}

// ClockReach is how far the clocks of hosts may be apart for everything to work: a
// day and a half.
const ClockReach = 36 * time.Hour

// newStand is where the message goes, or stays.
func (it *Item) newStand() stand {
	if it.moving {
		return it.next
	}
	return stand{it.Place, it.reach}
}

// before are the messages that it refers to or follows, as far as they are
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

// after are the messages that refer to it or follow it.
func (l *Ledger) after(it *Item) []*Item {
	return slices.Concat(answering.find(l, it.Path), receipts.find(l, it.Path), following.find(l, it.Hash))
}

// settle gives its place to what has come since the last time, and to what
// stands behind it or behind something that has gone.
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

// untangle places messages with all that comes after them, circles among them.
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

// circleOf is the messages of a knot that is a circle.
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

// patience is how many more messages relax looks at than there are to be placed
// before it takes it that they run in a circle. Where they do not, more than that
// stand behind what has come so late.
const patience = 100_000

// relax places messages, and of what comes after them only what has to move. In the
// end every message stands where what comes before it wants it. None is then in a
// circle, and there is one such order. It is not ok, and has placed nothing, if it
// does not come to that.
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
	// What comes together comes in its order, as a rule: each is looked at once then.
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

// task is a message that may have to move, and where to.
type task struct {
	it *Item
	to stand
}

// agenda is tasks, as a heap: what reaches least far comes first, because it is what
// the others may come after.
type agenda []task

// Len, Less, Swap, Push and Pop are those of a heap.
func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].to.reach.Before(a[j].to.reach) }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(task)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// move takes items to their new places.
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

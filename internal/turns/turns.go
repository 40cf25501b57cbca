// Package turns is a queue whose items are of somebody: each who has some gets a turn before
// anybody gets a second one. Whoever brings a thousand keeps nobody else from the first. Of
// each the oldest comes first, and of what belongs together too, whoever brought it.
package turns

import (
	"container/heap"
	"slices"
)

// Queue holds items that belong together by K. Put and Take need a time that grows with the
// logarithm of their number. It is for one goroutine at a time.
type Queue[T any, K comparable] struct {
	older  func(a, b T) bool
	all    *group[T, K]
	bonds  map[K]*pile[T, K] // what belongs together
	number int
}

// New is an empty queue. older orders the items; of no two it says that each is older.
func New[T any, K comparable](older func(a, b T) bool) *Queue[T, K] {
	return &Queue[T, K]{older: older, all: newGroup[T, K](nil), bonds: map[K]*pile[T, K]{}}
}

// entry is an item in the queue.
type entry[T any, K comparable] struct {
	item T
	bond K
	of   *member[T, K]
}

// group is those who take turns with each other.
type group[T any, K comparable] struct {
	owner   *member[T, K] // who has the turn of them all; nil for the queue
	members map[string]*member[T, K]
	order   []*member[T, K] // a heap: the next is first
	turn    int             // that was taken last
}

// member is somebody of a group, with items or with a group below it. One without any is
// in none.
type member[T any, K comparable] struct {
	in    *group[T, K]
	name  string
	turn  int // its next one
	at    int // in the order of its group; below zero: it is not in it yet
	items *pile[T, K]
	below *group[T, K]
}

func newGroup[T any, K comparable](owner *member[T, K]) *group[T, K] {
	return &group[T, K]{owner: owner, members: map[string]*member[T, K]{}}
}

// member is the one of that name. Who is new waits until all others have had a turn.
func (g *group[T, K]) member(name string) *member[T, K] {
	m := g.members[name]
	if m == nil {
		m = &member[T, K]{in: g, name: name, turn: g.turn + 1, at: -1}
		g.members[name] = m
	}
	return m
}

// Len is how many items there are.
func (q *Queue[T, K]) Len() int { return q.number }

// Put adds an item of somebody: from names a member of the queue, and one below it for
// each further name. The same names must always be as many.
func (q *Queue[T, K]) Put(item T, bond K, from ...string) {
	g := q.all
	var m *member[T, K]
	for i, name := range from {
		m = g.member(name)
		if i == len(from)-1 {
			break
		}
		if m.below == nil {
			m.below = newGroup(m)
		}
		g = m.below
	}
	if m.items == nil {
		m.items = &pile[T, K]{older: q.older}
	}
	e := &entry[T, K]{item, bond, m}
	heap.Push(m.items, e)
	b := q.bonds[bond]
	if b == nil {
		b = &pile[T, K]{older: q.older}
		q.bonds[bond] = b
	}
	heap.Push(b, e)
	q.number++
	q.settle(m)
}

// Next is what Take would take.
func (q *Queue[T, K]) Next() (item T, ok bool) {
	if q.number == 0 {
		return item, false
	}
	_, e := q.next()
	return e.item, true
}

// next is who has the turn, and what that is for: the oldest of whoever has it, unless
// something older belongs to that, which may stand behind something older still. So the
// turn is for somebody else then, and what is older cannot be held up by it.
func (q *Queue[T, K]) next() (turn *member[T, K], e *entry[T, K]) {
	turn = q.all.order[0]
	for turn.below != nil {
		turn = turn.below.order[0]
	}
	for e = turn.items.all[0]; ; {
		first := q.bonds[e.bond].all[0]
		if first == e {
			return turn, e
		}
		e = first.of.items.all[0]
	}
}

// Take takes out the next item.
func (q *Queue[T, K]) Take() (item T, ok bool) {
	if q.number == 0 {
		return item, false
	}
	turn, e := q.next()
	heap.Pop(e.of.items)
	if b := q.bonds[e.bond]; b.Len() == 1 {
		delete(q.bonds, e.bond)
	} else {
		heap.Pop(b)
	}
	q.number--
	q.settle(e.of) // a heap is put right after one change, not after two
	for m := turn; m != nil; m = m.in.owner {
		m.in.turn, m.turn = m.turn, m.turn+1
	}
	q.settle(turn)
	return e.item, true
}

// Remove takes out the item that is it, whoever has the turn. It looks at all of them.
func (q *Queue[T, K]) Remove(is func(T) bool) (item T, ok bool) {
	for bond, b := range q.bonds {
		for i, e := range b.all {
			if !is(e.item) {
				continue
			}
			if heap.Remove(b, i); b.Len() == 0 {
				delete(q.bonds, bond)
			}
			heap.Remove(e.of.items, slices.Index(e.of.items.all, e))
			q.number--
			q.settle(e.of)
			return e.item, true
		}
	}
	return item, false
}

// settle puts somebody in order whose items or turn have changed, and those above it.
func (q *Queue[T, K]) settle(m *member[T, K]) {
	for ; m != nil; m = m.in.owner {
		order := turnOrder[T, K]{m.in, q.older}
		switch {
		case m.in.members[m.name] != m: // it has left
		case m.empty():
			delete(m.in.members, m.name)
			heap.Remove(order, m.at)
		case m.at < 0:
			heap.Push(order, m)
		default:
			heap.Fix(order, m.at)
		}
	}
}

func (m *member[T, K]) empty() bool {
	if m.below != nil {
		return len(m.below.order) == 0
	}
	return m.items.Len() == 0
}

// first is the item that its next turn is for.
func (m *member[T, K]) first() T {
	for m.below != nil {
		m = m.below.order[0]
	}
	return m.items.all[0].item
}

// All are the items, oldest first.
func (q *Queue[T, K]) All() []T {
	var all []T
	for _, b := range q.bonds {
		for _, e := range b.all {
			all = append(all, e.item)
		}
	}
	slices.SortFunc(all, func(a, b T) int {
		switch {
		case q.older(a, b):
			return -1
		case q.older(b, a):
			return 1
		}
		return 0
	})
	return all
}

// turnOrder is a group as a heap: by turn, then who has waited longer.
type turnOrder[T any, K comparable] struct {
	*group[T, K]
	older func(a, b T) bool
}

func (o turnOrder[T, K]) Len() int { return len(o.order) }

func (o turnOrder[T, K]) Less(i, j int) bool {
	a, b := o.order[i], o.order[j]
	if a.turn != b.turn {
		return a.turn < b.turn
	}
	return o.older(a.first(), b.first())
}

func (o turnOrder[T, K]) Swap(i, j int) {
	o.order[i], o.order[j] = o.order[j], o.order[i]
	o.order[i].at, o.order[j].at = i, j
}

func (o turnOrder[T, K]) Push(x any) {
	m := x.(*member[T, K])
	m.at = len(o.order)
	o.group.order = append(o.order, m)
}

func (o turnOrder[T, K]) Pop() any {
	last := len(o.order) - 1
	m := o.order[last]
	o.group.order, m.at = o.order[:last], -1
	return m
}

// pile is entries as a heap, the oldest first.
type pile[T any, K comparable] struct {
	older func(a, b T) bool
	all   []*entry[T, K]
}

func (p *pile[T, K]) Len() int           { return len(p.all) }
func (p *pile[T, K]) Less(i, j int) bool { return p.older(p.all[i].item, p.all[j].item) }
func (p *pile[T, K]) Swap(i, j int)      { p.all[i], p.all[j] = p.all[j], p.all[i] }
func (p *pile[T, K]) Push(x any)         { p.all = append(p.all, x.(*entry[T, K])) }
func (p *pile[T, K]) Pop() any {
	last := len(p.all) - 1
	e := p.all[last]
	p.all[last], p.all = nil, p.all[:last]
	return e
}

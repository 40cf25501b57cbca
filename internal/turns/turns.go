// Package turns is a queue whose items have owners who take turns: each owner with items gets a
// turn before anybody gets a second one. So an owner who brings a thousand items keeps nobody else
// from the first turn. Of each owner, the oldest item comes first. The same holds for items that
// belong together, whoever brought them.
package turns

import (
	"container/heap"
	"slices"
)

// Queue holds items. Items with the same K belong together. Put and Take take a time that grows
// with the logarithm of the number of items. A Queue is for one goroutine at a time.
type Queue[T any, K comparable] struct {
	older  func(a, b T) bool
	all    *group[T, K]
	bonds  map[K]*pile[T, K] // the items that belong together
	number int
}

// New makes an empty queue. `older` orders the items. It must not be true for two items in both
// directions.
func New[T any, K comparable](older func(a, b T) bool) *Queue[T, K] {
	return &Queue[T, K]{older: older, all: newGroup[T, K](nil), bonds: map[K]*pile[T, K]{}}
}

// entry is an item in the queue.
type entry[T any, K comparable] struct {
	item T
	bond K
	of   *member[T, K]
}

// group is members that take turns with each other.
type group[T any, K comparable] struct {
	owner   *member[T, K] // the member that has the turn of all of them; nil for the queue
	members map[string]*member[T, K]
	order   []*member[T, K] // a heap: the next member is first
	turn    int             // the turn that was taken last
}

// member is a member of a group. It has either items or a group below it. A member without items is
// in no group.
type member[T any, K comparable] struct {
	in    *group[T, K]
	name  string
	turn  int // its next turn
	at    int // index in the order of its group; below zero: it is not in it yet
	items *pile[T, K]
	below *group[T, K]
}

func newGroup[T any, K comparable](owner *member[T, K]) *group[T, K] {
	return &group[T, K]{owner: owner, members: map[string]*member[T, K]{}}
}

// member returns the member with a name. A new member waits until all others have had a turn.
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

// Put adds an item. `from` names its owner: a member of the queue, and for each further name a
// member below the one before. For the same first names there must always be equally many names.
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

// Next returns what Take would take, without taking it.
func (q *Queue[T, K]) Next() (item T, ok bool) {
	if q.number == 0 {
		return item, false
	}
	_, e := q.next()
	return e.item, true
}

// next returns the member that has the turn, and the item that is taken. That is usually the oldest
// item of the member. But if an older item belongs together with it, the turn goes to the older
// item. If the older item has an even older one of its owner before it, the turn goes to that, and
// so on. So no item can be held up by a newer one that belongs together with it.
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

// Take takes the next item out of the queue.
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
	q.settle(e.of) // after each change a heap is put in order, not after two
	for m := turn; m != nil; m = m.in.owner {
		m.in.turn, m.turn = m.turn, m.turn+1
	}
	q.settle(turn)
	return e.item, true
}

// Remove takes out the item for which `is` returns true, whoever has the turn. It looks through all
// items.
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

// settle puts a member whose items or turn have changed in its place, and so all members above it.
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

// first is the item for which the member's next turn is.
func (m *member[T, K]) first() T {
	for m.below != nil {
		m = m.below.order[0]
	}
	return m.items.all[0].item
}

// All returns the items, the oldest first.
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

// turnOrder is a group as a heap: ordered by turn, and then by who has waited longer.
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

// pile is a heap of entries, the oldest first.
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

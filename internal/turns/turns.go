// Package turns is a queue whose items have owners who take turns: each owner with items gets a
// turn before anybody gets a second one. So an owner who brings a thousand items keeps nobody else
// from the first turn. Of each owner, the oldest item comes first. The same holds for items that
// belong together, whoever brought them.
package turns

import (
	"slices"
	"sort"
)

// Queue holds items. Items with the same K belong together. Next and Take look at all owners that
// have items. A Queue is for one goroutine at a time.
type Queue[T any, K comparable] struct {
	older  func(a, b T) bool
	all    *group[T, K]
	bonds  map[K][]*entry[T, K] // the items that belong together, the oldest first
	number int
}

// New makes an empty queue. `older` orders the items. It must not be true for two items in both
// directions.
func New[T any, K comparable](older func(a, b T) bool) *Queue[T, K] {
	return &Queue[T, K]{older: older, all: newGroup[T, K](nil), bonds: map[K][]*entry[T, K]{}}
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
	turn    int // the turn that was taken last
}

// member is a member of a group. It has either items or members below it. A member that has neither
// leaves its group.
type member[T any, K comparable] struct {
	in    *group[T, K]
	name  string
	turn  int            // its next turn
	items []*entry[T, K] // the oldest first
	below *group[T, K]
}

func newGroup[T any, K comparable](owner *member[T, K]) *group[T, K] {
	return &group[T, K]{owner: owner, members: map[string]*member[T, K]{}}
}

// member returns the member with a name. A new member waits until all others have had a turn.
func (g *group[T, K]) member(name string) *member[T, K] {
	m := g.members[name]
	if m == nil {
		m = &member[T, K]{in: g, name: name, turn: g.turn + 1}
		m.below = newGroup(m)
		g.members[name] = m
	}
	return m
}

// Len is how many items there are.
func (q *Queue[T, K]) Len() int { return q.number }

// Put adds an item. `from` names its owner: a member of the queue, and for each further name a
// member below the one before. For the same first names there must always be equally many names.
func (q *Queue[T, K]) Put(item T, bond K, from ...string) {
	e := &entry[T, K]{item: item, bond: bond}
	for g, i := q.all, 0; i < len(from); g, i = e.of.below, i+1 {
		e.of = g.member(from[i])
	}
	e.of.items = q.insert(e.of.items, e)
	q.bonds[bond] = q.insert(q.bonds[bond], e)
	q.number++
}

// insert puts an entry in its place.
func (q *Queue[T, K]) insert(list []*entry[T, K], e *entry[T, K]) []*entry[T, K] {
	return slices.Insert(list, sort.Search(len(list), func(i int) bool { return q.older(e.item, list[i].item) }), e)
}

// remove takes an entry out, and members that have nothing left.
func (q *Queue[T, K]) remove(e *entry[T, K]) {
	q.number--
	without := func(list []*entry[T, K]) []*entry[T, K] {
		i := slices.Index(list, e)
		return slices.Delete(list, i, i+1)
	}
	if q.bonds[e.bond] = without(q.bonds[e.bond]); len(q.bonds[e.bond]) == 0 {
		delete(q.bonds, e.bond)
	}
	e.of.items = without(e.of.items)
	for m := e.of; m != nil && len(m.items)+len(m.below.members) == 0; m = m.in.owner {
		delete(m.in.members, m.name)
	}
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
	turn, e = q.first(q.all)
	for first := q.bonds[e.bond][0]; first != e; first = q.bonds[e.bond][0] {
		e = first.of.items[0]
	}
	return turn, e
}

// first returns the member that has the turn in a group, and its oldest item. If several have the
// same turn, it is the one that has waited longer.
func (q *Queue[T, K]) first(g *group[T, K]) (turn *member[T, K], e *entry[T, K]) {
	lowest := 0
	for _, m := range g.members {
		owner, oldest := m, (*entry[T, K])(nil)
		if len(m.items) > 0 {
			oldest = m.items[0]
		} else {
			owner, oldest = q.first(m.below)
		}
		if e == nil || m.turn < lowest || m.turn == lowest && q.older(oldest.item, e.item) {
			turn, e, lowest = owner, oldest, m.turn
		}
	}
	return turn, e
}

// Take takes the next item out of the queue.
func (q *Queue[T, K]) Take() (item T, ok bool) {
	if q.number == 0 {
		return item, false
	}
	turn, e := q.next()
	q.remove(e)
	for m := turn; m != nil; m = m.in.owner {
		m.in.turn, m.turn = m.turn, m.turn+1
	}
	return e.item, true
}

// Remove takes out the item for which `is` returns true, whoever has the turn. It looks through all
// items.
func (q *Queue[T, K]) Remove(is func(T) bool) (item T, ok bool) {
	for _, list := range q.bonds {
		if i := slices.IndexFunc(list, func(e *entry[T, K]) bool { return is(e.item) }); i >= 0 {
			e := list[i]
			q.remove(e)
			return e.item, true
		}
	}
	return item, false
}

// All returns the items, the oldest first.
func (q *Queue[T, K]) All() []T {
	var all []T
	for _, list := range q.bonds {
		for _, e := range list {
			all = append(all, e.item)
		}
	}
	sort.Slice(all, func(i, j int) bool { return q.older(all[i], all[j]) })
	return all
}

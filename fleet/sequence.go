package fleet

import (
	"slices"
	"sort"
)

// sequence keeps items in the order of their places, equal places by path. Inserting at the end,
// the common case, needs no search.
type sequence struct{ items []*Item }

// byPlace compares by place, then by path.
func byPlace(a, b *Item) int {
	if c := a.Place.Compare(b.Place); c != 0 {
		return c
	}
	return a.Path.Compare(b.Path)
}

func before(a, b *Item) bool { return byPlace(a, b) < 0 }

// all are the items of a sequence. The sequence may be nil.
func (q *sequence) all() []*Item {
	if q == nil {
		return nil
	}
	return q.items
}

// from are the items that do not stand before `it`, which need not be in the sequence.
func (q *sequence) from(it *Item) []*Item {
	if q == nil {
		return nil
	}
	return q.items[q.find(it):]
}

func (q *sequence) insert(it *Item) {
	n := len(q.items)
	if n == 0 || before(q.items[n-1], it) {
		q.items = append(q.items, it)
		return
	}
	i := q.find(it)
	q.items = slices.Insert(q.items, i, it)
}

// remove takes an item out. Its Place must still be the one with which it was inserted.
func (q *sequence) remove(it *Item) {
	i := q.find(it)
	if i < len(q.items) && q.items[i] == it {
		q.items = slices.Delete(q.items, i, i+1)
	}
}

// few is how many items are moved one by one. If there are more, everything from the first of them
// on is gone through once.
const few = 16

func (q *sequence) takeOut(items []*Item) {
	items = slices.DeleteFunc(slices.Clone(items), func(it *Item) bool { return !it.placed })
	if len(items) > few {
		i := q.find(slices.MinFunc(items, byPlace))
		rest := slices.DeleteFunc(q.items[i:], func(it *Item) bool { return it.moving })
		q.items = q.items[:i+len(rest)]
		return
	}
	for _, it := range items {
		q.remove(it)
	}
}

func (q *sequence) putIn(items []*Item) {
	if len(items) > few {
		i := q.find(slices.MinFunc(items, byPlace))
		q.items = append(q.items, items...)
		slices.SortFunc(q.items[i:], byPlace)
		return
	}
	for _, it := range items {
		q.insert(it)
	}
}

// find is the index of the first item that does not stand before `it`.
func (q *sequence) find(it *Item) int {
	return sort.Search(len(q.items), func(i int) bool { return !before(q.items[i], it) })
}

func without[V comparable](items []V, it V) []V {
	return slices.DeleteFunc(items, func(x V) bool { return x == it })
}

package fleet

import (
	"slices"
	"sort"
)

// sequence keeps items in the order of their places, ties by path. Insertion at
// the end, the common case, costs no search.
type sequence struct{ items []*Item }

// byPlace compares by place, ties by path.
func byPlace(a, b *Item) int {
	if c := a.Place.Compare(b.Place); c != 0 {
		return c
	}
	return a.Path.Compare(b.Path)
}

func before(a, b *Item) bool { return byPlace(a, b) < 0 }

func (q *sequence) insert(it *Item) {
	n := len(q.items)
	if n == 0 || before(q.items[n-1], it) {
		q.items = append(q.items, it)
		return
	}
	i := sort.Search(n, func(i int) bool { return !before(q.items[i], it) })
	q.items = slices.Insert(q.items, i, it)
}

// remove takes it out; its Place must still be the one it was inserted with.
func (q *sequence) remove(it *Item) {
	i := sort.Search(len(q.items), func(i int) bool { return !before(q.items[i], it) })
	if i < len(q.items) && q.items[i] == it {
		q.items = slices.Delete(q.items, i, i+1)
	}
}

func without(items []*Item, it *Item) []*Item {
	return slices.DeleteFunc(items, func(x *Item) bool { return x == it })
}

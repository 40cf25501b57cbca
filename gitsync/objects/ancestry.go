package objects

import (
	"container/heap"
	"slices"
	"time"
)

// MergeBase returns a best common ancestor of two commits. ok is false if their histories share
// nothing. If one of them is an ancestor of the other, it is that one. Like git, it walks both
// histories from the newest commit down. It stops when only commits are left that both histories
// share. So dates decide how far it walks, and never whether one of the two is an ancestor.
func (s *Store) MergeBase(a, b Hash) (base Hash, ok bool, err error) {
	if a == b {
		return a, true, nil
	}
	w := walk{store: s, marks: map[Hash]mark{}}
	if err := w.reach(a, fromA); err != nil {
		return Zero, false, err
	}
	if err := w.reach(b, fromB); err != nil {
		return Zero, false, err
	}
	var found []Hash
	for w.live > 0 {
		v, marks := w.next()
		if marks&both == both {
			if marks&stale == 0 {
				found = append(found, v.hash)
			}
			marks |= stale
		}
		if err := w.reachAll(v.parents, marks); err != nil {
			return Zero, false, err
		}
	}
	for _, h := range []Hash{a, b} {
		if w.marks[h]&both == both {
			return h, true, nil
		}
	}
	for _, h := range found {
		// With wrong dates, the walk may find an ancestor before its descendant.
		if w.marks[h]&stale == 0 {
			return h, true, nil
		}
	}
	return Zero, false, nil
}

// IsAncestor reports whether old is new or one of its ancestors.
func (s *Store) IsAncestor(old, new Hash) (bool, error) {
	base, ok, err := s.MergeBase(old, new)
	return ok && base == old, err
}

// clockSlop is how far the clocks of hosts may differ. If they differ more, Only may list a commit
// of tip that other has as well.
const clockSlop = time.Minute

// Only lists the commits that are reachable from tip and not from other, newest first. If other is
// Zero, it lists all that are reachable from tip. If dates are wrong by more than clockSlop, it may
// list too many.
func (s *Store) Only(tip, other Hash) ([]Hash, error) {
	w := walk{store: s, marks: map[Hash]mark{}}
	if err := w.reach(tip, fromA); err != nil {
		return nil, err
	}
	if other != Zero {
		if err := w.reach(other, fromB|stale); err != nil {
			return nil, err
		}
	}
	var all []Hash
	var oldest time.Time
	for w.live > 0 || len(w.queue) > 0 && len(all) > 0 && w.queue[0].when.After(oldest.Add(-clockSlop)) {
		v, marks := w.next()
		if marks&fromB == 0 {
			all = append(all, v.hash)
			oldest = v.when
		} else {
			marks |= stale
		}
		if err := w.reachAll(v.parents, marks); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(h Hash) bool { return w.marks[h]&fromB != 0 }), nil
}

// Root follows first parents from tip down to the commit that has no parents.
func (s *Store) Root(tip Hash) (Hash, error) {
	for {
		c, err := s.CommitAt(tip)
		if err != nil {
			return Zero, err
		}
		if len(c.Parents) == 0 {
			return tip, nil
		}
		tip = c.Parents[0]
	}
}

type mark uint8

const (
	fromA mark = 1 << iota
	fromB
	stale // of no more interest: below a commit that both reach or, in Only, reached from other
	both  = fromA | fromB
)

type visited struct {
	hash    Hash
	when    time.Time
	parents []Hash
}

// walk goes through commits in the order of their dates, the newest first. Its queue is a heap.
type walk struct {
	store *Store
	marks map[Hash]mark
	queue queue
	live  int // entries of the queue that are not stale
}

// next takes the newest commit out of the queue and returns it with its marks.
func (w *walk) next() (visited, mark) {
	v := heap.Pop(&w.queue).(visited)
	marks := w.marks[v.hash]
	if marks&stale == 0 {
		w.live--
	}
	return v, marks
}

func (w *walk) reachAll(parents []Hash, marks mark) error {
	for _, parent := range parents {
		if err := w.reach(parent, marks); err != nil {
			return err
		}
	}
	return nil
}

// reach adds marks to a commit. If one of them is new to the commit, the commit is put into the
// queue, even if it was visited before.
func (w *walk) reach(h Hash, marks mark) error {
	before, seen := w.marks[h]
	if seen && before|marks == before {
		return nil
	}
	c, err := w.store.CommitAt(h)
	if err != nil {
		return err
	}
	w.marks[h] = before | marks
	for i := range w.queue {
		if w.queue[i].hash == h {
			if before&stale == 0 && marks&stale != 0 {
				w.live--
			}
			return nil
		}
	}
	heap.Push(&w.queue, visited{hash: h, when: c.When, parents: c.Parents})
	if w.marks[h]&stale == 0 {
		w.live++
	}
	return nil
}

type queue []visited

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].when.After(q[j].when) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(v any)        { *q = append(*q, v.(visited)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

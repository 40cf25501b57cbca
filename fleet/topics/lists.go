package topics

import "strconv"

// Awaiting are the agreements on which `who` has not decided: those that are pending, and those for
// which the time has run out (R60: pending means mine).
func (t Topic) Awaiting(who string) []*Item {
	return t.agreements(func(it *Item) bool {
		p := it.Stand(who).Phase
		return p == Pending || p == TimedOut
	})
}

// DeferredBy are the agreements on which `who` has put the decision off.
func (t Topic) DeferredBy(who string) []*Item {
	return t.agreements(func(it *Item) bool {
		s := it.Stand(who)
		return s.Phase == Deferred || s.Phase == TimedOut && s.Previous == Deferred
	})
}

func (t Topic) agreements(is func(*Item) bool) []*Item {
	return t.Sorted(Agreement, is)
}

// Sorted are the items of a sort for which `is` holds, in the order of the record. If `is` is nil,
// they are all items of the sort.
func (t Topic) Sorted(sort Sort, is func(*Item) bool) []*Item {
	var all []*Item
	for _, it := range t.Items {
		if it.Sort == sort && (is == nil || is(it)) {
			all = append(all, it)
		}
	}
	return all
}

func ordinal(letter Sort, n int) string { return string(rune(letter)) + strconv.Itoa(n) }

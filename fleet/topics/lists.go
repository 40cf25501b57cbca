package topics

import "strconv"

// Awaiting are the agreements on which somebody has not decided: what is pending, and what
// the time has run out for (R60: pending means mine).
func (t Topic) Awaiting(who string) []*Item {
	return t.agreements(func(it *Item) bool {
		p := it.Stand(who).Phase
		return p == Pending || p == TimedOut
	})
}

// DeferredBy are the agreements on which somebody has put the decision off.
func (t Topic) DeferredBy(who string) []*Item {
	return t.agreements(func(it *Item) bool {
		s := it.Stand(who)
		return s.Phase == Deferred || s.Phase == TimedOut && s.Previous == Deferred
	})
}

func (t Topic) agreements(is func(*Item) bool) []*Item {
	return t.Sorted(Agreement, is)
}

// Sorted are the items of a sort of which that holds, in the order of the record; all of
// the sort where nothing is asked.
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

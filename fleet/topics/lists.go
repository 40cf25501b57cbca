package topics

import (
	"strconv"
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
)

// Awaiting are the agreements on which `who` has not decided: those that are pending, and those for
// which the time has run out (R60: pending means mine).
func (t Topic) Awaiting(who string) []*topic.Item {
	return t.agreements(func(it *topic.Item) bool {
		p := it.Stand(who).Phase
		return p == topic.Pending || p == topic.TimedOut
	})
}

// DeferredBy are the agreements on which `who` has put the decision off.
func (t Topic) DeferredBy(who string) []*topic.Item {
	return t.agreements(func(it *topic.Item) bool {
		s := it.Stand(who)
		return s.Phase == topic.Deferred || s.Phase == topic.TimedOut && s.Previous == topic.Deferred
	})
}

func (t Topic) agreements(is func(*topic.Item) bool) []*topic.Item {
	return t.Sorted(topic.Agreement, is)
}

// Sorted are the items of a sort for which `is` holds, in the order of the record. If `is` is nil,
// they are all items of the sort.
func (t Topic) Sorted(sort topic.Sort, is func(*topic.Item) bool) []*topic.Item {
	var all []*topic.Item
	for _, it := range t.Items {
		if it.Sort == sort && (is == nil || is(it)) {
			all = append(all, it)
		}
	}
	return all
}

// History are the scores that `by` gave in this term and in earlier ones, in the order of the
// record. `lambda` says which decay held at a time: that depends on what the two had with each
// other until then.
func (t Topic) History(by string, lambda func(at time.Time) topic.Lambda) []topic.Sample {
	var all []topic.Sample
	for _, term := range append(t.Past[:len(t.Past):len(t.Past)], t) {
		for _, r := range term.Scored(by) {
			raw, _ := r.Raw.Value()
			all = append(all, topic.Sample{At: r.Time, By: r.By, Topic: term.Slug.String(), Raw: raw, Lambda: lambda(r.Time).Value})
		}
	}
	return all
}

// TeachBacks is how many lessons `who` said back in a topic, and how many the other participant
// did, in all terms.
func (t Topic) TeachBacks(who string) (given, received int) {
	for _, term := range append(t.Past[:len(t.Past):len(t.Past)], t) {
		for _, it := range term.Sorted(topic.Lesson, nil) {
			if it.By == who {
				given++
			} else {
				received++
			}
		}
	}
	return given, received
}

func ordinal(letter string, n int) string { return letter + strconv.Itoa(n) }

package fleet

import "time"

// placeOf is the place of a message: the latest of its timestamp and, plus one
// millisecond each, the places of the message it answers and of its host's
// message before it. So an answer never sorts before its question, whatever the
// clocks say.
func (s *State) placeOf(it *Item) time.Time {
	place := it.Timestamp
	after := func(other *Item) {
		if other == nil || other == it {
			return
		}
		if t := other.Place.Add(time.Millisecond); t.After(place) {
			place = t
		}
	}
	if p, ok := it.AnsweredPath(); ok {
		after(s.items[p])
	}
	if p, ok := it.ReadPath(); ok {
		after(s.items[p])
	}
	if it.Prev != "" {
		after(s.byHash[it.Prev])
	}
	return place
}

// lift moves the messages that refer to it or follow it behind it, and those
// behind them. References that run in a circle, which no honest writer can
// make, are followed round once.
func (s *State) lift(it *Item) {
	seen := map[*Item]bool{it: true}
	for todo := []*Item{it}; len(todo) > 0; todo = todo[1:] {
		for _, dependent := range s.dependents(todo[0]) {
			place := s.placeOf(dependent)
			if seen[dependent] || place.Equal(dependent.Place) {
				continue
			}
			seen[dependent] = true
			s.move(dependent, place)
			todo = append(todo, dependent)
		}
	}
}

func (s *State) dependents(it *Item) []*Item {
	var all []*Item
	all = append(all, s.answers[it.Path]...)
	all = append(all, s.receipts[it.Path]...)
	return append(all, s.followers[it.Hash]...)
}

func (s *State) move(it *Item, place time.Time) {
	channel := s.channel(it.Path.Channel())
	s.order.remove(it)
	channel.remove(it)
	it.Place = place
	s.order.insert(it)
	channel.insert(it)
}

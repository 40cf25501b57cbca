package fleet

import "time"

// placeOf is the place of a message: the latest of its timestamp and, plus one
// millisecond each, the places of the messages it refers to and of its host's
// message before it. So an answer never sorts before its question, whatever the
// clocks say. References that run in a circle, which only a mischievous writer
// makes, do not count.
func (s *State) placeOf(it *Item) time.Time {
	place := it.Timestamp
	for _, other := range s.before(it) {
		if t := other.Place.Add(time.Millisecond); t.After(place) && !s.leadsTo(it, other) {
			place = t
		}
	}
	return place
}

// before are the messages that it refers to or follows, as far as they are
// there.
func (s *State) before(it *Item) []*Item {
	var all []*Item
	if p, ok := it.AnsweredPath(); ok && s.items[p] != nil {
		all = append(all, s.items[p])
	}
	if p, ok := it.ReadPath(); ok && s.items[p] != nil {
		all = append(all, s.items[p])
	}
	if prev := s.byHash[it.Prev]; it.Prev != "" && prev != nil {
		all = append(all, prev)
	}
	return all
}

// after are the messages that refer to it or follow it.
func (s *State) after(it *Item) []*Item {
	var all []*Item
	all = append(all, s.answers[it.Path]...)
	all = append(all, s.receipts[it.Path]...)
	return append(all, s.followers[it.Hash]...)
}

// leadsTo reports whether other comes after it, by one reference or many. For a
// message that nobody refers to yet, the common case, that costs nothing.
func (s *State) leadsTo(it, other *Item) bool {
	if it == other {
		return true
	}
	found := false
	s.eachAfter(it, func(x *Item) bool {
		found = found || x == other
		return !found
	})
	return found
}

// eachAfter visits everything that comes after it, once each, until visit says
// to stop.
func (s *State) eachAfter(it *Item, visit func(*Item) bool) {
	seen := map[*Item]bool{}
	for todo := s.after(it); len(todo) > 0; todo = todo[1:] {
		if x := todo[0]; !seen[x] {
			seen[x] = true
			if !visit(x) {
				return
			}
			todo = append(todo, s.after(x)...)
		}
	}
}

// settle puts what comes after a message into place again, after the message
// has come or gone. Where that closed or opened a circle, everything behind it
// is looked at; else only what moves.
func (s *State) settle(it *Item, circle bool) {
	todo := s.after(it)
	if circle {
		todo = nil
		s.eachAfter(it, func(x *Item) bool { todo = append(todo, x); return true })
	}
	for ; len(todo) > 0; todo = todo[1:] {
		x := todo[0]
		if s.items[x.Path] != x {
			continue
		}
		if place := s.placeOf(x); !place.Equal(x.Place) {
			s.move(x, place)
			todo = append(todo, s.after(x)...)
		}
	}
}

// inCircle reports whether something that the message refers to comes after it.
func (s *State) inCircle(it *Item) bool {
	for _, other := range s.before(it) {
		if s.leadsTo(it, other) {
			return true
		}
	}
	return false
}

func (s *State) move(it *Item, place time.Time) {
	channel := s.channel(it.Path.Channel())
	s.order.remove(it)
	channel.remove(it)
	it.Place = place
	s.order.insert(it)
	channel.insert(it)
}

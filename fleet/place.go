package fleet

import "time"

// Batch runs f, which applies many files, and gives all of them their places at
// the end: in whatever order they come, that costs hardly more than reading
// them. Until then the state answers nothing that has an order.
func (s *State) Batch(f func()) {
	s.batch = true
	defer func() {
		s.batch = false
		s.settle()
	}()
	f()
}

// placeOf is the place of a message: the latest of its timestamp and, plus one
// millisecond each, the places of the messages it refers to and of its host's
// message before it. So an answer never sorts before its question, whatever the
// clocks say. References that run in a circle, which only a mischievous writer
// makes, do not count: circle is the one that the message is in, if any.
func (s *State) placeOf(it *Item, circle map[*Item]bool) time.Time {
	place := it.Timestamp
	for _, other := range s.before(it) {
		if t := other.newPlace().Add(time.Millisecond); t.After(place) && other != it && !circle[other] {
			place = t
		}
	}
	return place
}

// newPlace is where the message goes, or stays.
func (it *Item) newPlace() time.Time {
	if it.moving {
		return it.next
	}
	return it.Place
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

// settle gives its place to what has come since the last time, and to what
// stands behind it or behind something that has gone.
func (s *State) settle() {
	if s.batch {
		return
	}
	var moving []*Item
	for _, knot := range s.knots(s.unsettled) {
		circle := circleOf(knot)
		for _, it := range knot {
			if place := s.placeOf(it, circle); !it.placed || !place.Equal(it.Place) {
				it.moving, it.next = true, place
				moving = append(moving, it)
			}
		}
	}
	s.unsettled = nil
	s.move(moving)
}

// circleOf is the messages of a knot that is a circle.
func circleOf(knot []*Item) map[*Item]bool {
	if len(knot) == 1 {
		return nil
	}
	circle := map[*Item]bool{}
	for _, it := range knot {
		circle[it] = true
	}
	return circle
}

// move takes items to their new places.
func (s *State) move(moving []*Item) {
	channels := map[*sequence][]*Item{}
	for _, it := range moving {
		channel := s.channel(it.Path.Channel())
		channels[channel] = append(channels[channel], it)
	}
	s.order.takeOut(moving)
	for channel, items := range channels {
		channel.takeOut(items)
	}
	for _, it := range moving {
		it.Place, it.placed, it.moving = it.next, true, false
	}
	s.order.putIn(moving)
	for channel, items := range channels {
		channel.putIn(items)
	}
}

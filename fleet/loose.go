package fleet

import (
	"github.com/parleyfleet/parley/protocol"
)

// loose is the messages of a state that are not in its archive, and how they are
// found.
type loose struct {
	items      map[protocol.Path]*Item
	order      sequence // by place
	channels   map[protocol.ChannelID]*sequence
	mail       map[string][]*Item        // by addressed name
	broadcasts []*Item                   // to all
	receipts   map[protocol.Path][]*Item // by the message read
	answers    map[protocol.Path][]*Item // by the message answered
	asides     map[protocol.Path][]*Item // by the message because of which an agent wrote them, without answering it
	byHash     map[string][]*Item
	followers  map[string][]*Item // by the hash that prev names
	requests   map[string][]*Item // by the id of the request
	seats      map[branch][]*Item // by host, run and seq
	days       map[string]int     // by folder, how many there are more than in the archive
	writers    map[string]int     // the same, by author's name
	counted    census             // the same, by what is asked for whole
}

func newLoose() loose {
	return loose{
		items:     map[protocol.Path]*Item{},
		channels:  map[protocol.ChannelID]*sequence{},
		mail:      map[string][]*Item{},
		receipts:  map[protocol.Path][]*Item{},
		answers:   map[protocol.Path][]*Item{},
		asides:    map[protocol.Path][]*Item{},
		byHash:    map[string][]*Item{},
		followers: map[string][]*Item{},
		requests:  map[string][]*Item{},
		seats:     map[branch][]*Item{},
		days:      map[string]int{},
		writers:   map[string]int{},
		counted:   newCensus(),
	}
}

// enter makes an item that can be found; it has no place yet.
func (l *loose) enter(it *Item) {
	l.items[it.Path] = it
	l.byHash[it.Hash] = append(l.byHash[it.Hash], it)
	l.tally(it, 1)
	if it.Prev != "" {
		l.followers[it.Prev] = append(l.followers[it.Prev], it)
	}
	if p, ok := it.AnsweredPath(); ok {
		l.answers[p] = append(l.answers[p], it)
	}
	if p, ok := it.asideOf(); ok {
		l.asides[p] = append(l.asides[p], it)
	}
	if it.Request != "" {
		l.requests[it.Request] = append(l.requests[it.Request], it)
	}
	if it.sealed {
		l.seats[it.seat()] = append(l.seats[it.seat()], it)
	}
	if p, ok := it.ReadPath(); ok {
		l.receipts[p] = append(l.receipts[p], it)
	}
	for _, name := range it.addressed() {
		if name == "" {
			l.broadcasts = append(l.broadcasts, it)
		} else {
			l.mail[name] = append(l.mail[name], it)
		}
	}
}

// leave undoes enter.
func (l *loose) leave(it *Item) {
	delete(l.items, it.Path)
	drop(l.byHash, it.Hash, it)
	l.tally(it, -1)
	if it.Prev != "" {
		drop(l.followers, it.Prev, it)
	}
	if p, ok := it.AnsweredPath(); ok {
		drop(l.answers, p, it)
	}
	if p, ok := it.asideOf(); ok {
		drop(l.asides, p, it)
	}
	if it.Request != "" {
		drop(l.requests, it.Request, it)
	}
	if it.sealed {
		drop(l.seats, it.seat(), it)
	}
	if p, ok := it.ReadPath(); ok {
		drop(l.receipts, p, it)
	}
	for _, name := range it.addressed() {
		if name == "" {
			l.broadcasts = without(l.broadcasts, it)
		} else {
			drop(l.mail, name, it)
		}
	}
}

func drop[K, V comparable](from map[K][]V, key K, v V) {
	if from[key] = without(from[key], v); len(from[key]) == 0 {
		delete(from, key)
	}
}

// tally counts an item in, or with -1 out.
func (l *loose) tally(it *Item, n int) {
	l.days[it.Path.DayDir()] += n
	l.writers[it.Author().Name] += n * it.counts()
	l.counted.add(it, n)
}

func (l *loose) channel(c protocol.ChannelID) *sequence {
	seq := l.channels[c]
	if seq == nil {
		seq = &sequence{}
		l.channels[c] = seq
	}
	return seq
}

// own makes an item of the archive a loose one, so that it can be changed; a loose
// one it is already.
func (s *State) own(it *Item) *Item {
	if held := s.items[it.Path]; held != nil {
		return held
	}
	i, ok := s.archive.find(it.Path)
	if !ok {
		return it
	}
	s.gone[i] = struct{}{}
	s.tally(it, -1)
	s.enter(it)
	s.order.insert(it)
	s.channel(it.Path.Channel()).insert(it)
	return it
}

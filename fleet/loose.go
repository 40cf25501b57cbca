package fleet

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

// loose is the messages of a state that are not in its archive, and the tables in which they are
// found.
type loose struct {
	items    map[protocol.Path]*Item
	order    sequence // by place
	channels map[protocol.ChannelID]*sequence
	deeds    map[affair.ID]*sequence
	mail     map[string][]*Item // by addressed name; mail to all is under ""
	found    []any              // the table of each index, by the number of the index
	counted  census             // how many more there are than in the archive
}

func newLoose() loose {
	l := loose{
		items:    map[protocol.Path]*Item{},
		channels: map[protocol.ChannelID]*sequence{},
		deeds:    map[affair.ID]*sequence{},
		mail:     map[string][]*Item{},
		counted:  newCensus(),
	}
	for _, x := range indexes {
		l.found = append(l.found, x.empty())
	}
	return l
}

// enter makes an item that can be found, but has no place yet.
func (l *loose) enter(it *Item) {
	l.items[it.Path] = it
	l.counted.add(it, 1)
	for _, x := range indexes {
		x.enter(l, it)
	}
	for _, name := range it.addressed() {
		l.mail[name] = append(l.mail[name], it)
	}
}

func (l *loose) leave(it *Item) {
	delete(l.items, it.Path)
	l.counted.add(it, -1)
	for _, x := range indexes {
		x.leave(l, it)
	}
	for _, name := range it.addressed() {
		drop(l.mail, name, it)
	}
}

func drop[K, V comparable](from map[K][]V, key K, v V) {
	if from[key] = without(from[key], v); len(from[key]) == 0 {
		delete(from, key)
	}
}

func (l *loose) sequences(it *Item) []*sequence {
	all := []*sequence{&l.order, in(l.channels, it.Path.Channel())}
	if it.affair != (affair.ID{}) {
		all = append(all, in(l.deeds, it.affair))
	}
	return all
}

func in[K comparable](sequences map[K]*sequence, key K) *sequence {
	seq := sequences[key]
	if seq == nil {
		seq = &sequence{}
		sequences[key] = seq
	}
	return seq
}

// own makes an item of the archive a loose one, so that it can be changed. A loose item stays as it
// is.
func (l *Ledger) own(it *Item) *Item {
	if held := l.items[it.Path]; held != nil {
		return held
	}
	i, ok := l.archive.find(it.Path)
	if !ok {
		return it
	}
	l.gone[i] = struct{}{}
	l.counted.add(it, -1)
	l.enter(it)
	for _, q := range l.sequences(it) {
		q.insert(it)
	}
	return it
}

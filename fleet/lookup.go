package fleet

import (
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/protocol"
)

// What is asked of the archive is a copy of the message each time: two items are
// the same message if their paths are.

// at is the message at p, nil if there is none.
func (s *State) at(p protocol.Path) *Item {
	if it := s.items[p]; it != nil {
		return it
	}
	if s.archive.Len() == 0 {
		return nil
	}
	if i, ok := s.archive.find(p); ok && s.stays(i) {
		return s.archive.item(i)
	}
	return nil
}

// stays reports whether a message of the archive stands as it is there.
func (s *State) stays(i uint32) bool {
	_, gone := s.gone[i]
	return !gone
}

// under are the messages of the archive under a key of one of its indexes for which
// is holds, and the loose ones given.
func (s *State) under(table int, key uint64, is func(*Item) bool, loose []*Item) []*Item {
	if s.archive.Len() == 0 {
		return loose
	}
	all := loose[:len(loose):len(loose)]
	for i := range s.archive.With(table, key) {
		if !s.stays(i) {
			continue
		}
		if it := s.archive.item(i); it != nil && is(it) {
			all = append(all, it)
		}
	}
	return all
}

// Find returns the messages whose name ends in the given suffix of eight or
// more hex digits (R2).
func (s *State) Find(suffix string) []*Item {
	tail := "-" + suffix + ".md"
	return s.named(suffix, func(p protocol.Path) bool { return strings.HasSuffix(p.Rel(), tail) && p.Suffix() == suffix })
}

// FindRel returns the messages at that path below any channel.
func (s *State) FindRel(rel string) []*Item {
	key := rel
	if p, err := protocol.JoinPath(s.system, rel); err == nil && p.Suffix() != "" {
		key = p.Suffix()
	}
	return s.named(key, func(p protocol.Path) bool { return p.Rel() == rel })
}

// named are the messages under a key of the index of endings, in the order of the
// record.
func (s *State) named(key string, is func(protocol.Path) bool) []*Item {
	var found []*Item
	for _, it := range s.order.items {
		if is(it.Path) {
			found = append(found, it)
		}
	}
	found = s.under(endings.table, archive.Key(key), func(it *Item) bool { return is(it.Path) }, found)
	slices.SortFunc(found, byPlace)
	return found
}

// All yields every message in the order of the record. The state must not change
// meanwhile.
func (s *State) All() iter.Seq[*Item] {
	return weave(s.frozen(everything(s.archive.Len())), s.order.items, false)
}

// Backward yields every message, the last first, under the same terms as All.
func (s *State) Backward() iter.Seq[*Item] {
	return weave(s.frozen(backward(everything(s.archive.Len()))), s.order.items, true)
}

// After yields what stands after a message in the order of the record, nil standing
// for none, under the same terms as All.
func (s *State) After(it *Item) iter.Seq[*Item] {
	if it == nil {
		return s.All()
	}
	frozen := s.archive.from(everything(s.archive.Len()), it)
	return func(yield func(*Item) bool) {
		for next := range weave(s.frozen(frozen), s.order.from(it), false) {
			if next.Path != it.Path && !yield(next) {
				return
			}
		}
	}
}

// Channel yields the messages of one channel in the order of the record, under the
// same terms as All.
func (s *State) Channel(c protocol.ChannelID) iter.Seq[*Item] {
	return weave(s.frozen(s.listed(listChannels, c.String())), s.channels[c].all(), false)
}

// ChannelBackward yields the messages of one channel, the last first, under the same
// terms as All.
func (s *State) ChannelBackward(c protocol.ChannelID) iter.Seq[*Item] {
	return weave(s.frozen(backward(s.listed(listChannels, c.String()))), s.channels[c].all(), true)
}

// ChannelBefore yields the messages of one channel that stand before a message, the
// last first, under the same terms as All.
func (s *State) ChannelBefore(c protocol.ChannelID, it *Item) iter.Seq[*Item] {
	frozen, end := s.listed(listChannels, c.String()), s.archive.search(it)
	frozen.len = sort.Search(frozen.len, func(i int) bool { return frozen.at(i) >= end })
	loose := s.channels[c].all()
	if len(loose) > 0 {
		loose = loose[:s.channels[c].find(it)]
	}
	return weave(s.frozen(backward(frozen)), loose, true)
}

// ChannelAfter yields the messages of one channel that stand after a message, under the
// same terms as All.
func (s *State) ChannelAfter(c protocol.ChannelID, it *Item) iter.Seq[*Item] {
	frozen := s.archive.from(s.listed(listChannels, c.String()), it)
	return func(yield func(*Item) bool) {
		for next := range weave(s.frozen(frozen), s.channels[c].from(it), false) {
			if next.Path != it.Path && !yield(next) {
				return
			}
		}
	}
}

// numbers are messages of an archive: how many, and which is the i-th.
type numbers struct {
	len int
	at  func(i int) uint32
}

func everything(n int) numbers { return numbers{n, func(i int) uint32 { return uint32(i) }} }

func backward(n numbers) numbers {
	return numbers{n.len, func(i int) uint32 { return n.at(n.len - 1 - i) }}
}

// listed are the messages in one of the archive's lists.
func (s *State) listed(table int, name string) numbers {
	l := s.archive.List(table, name)
	return numbers{l.Len(), l.At}
}

// frozen yields those messages of the archive that stay.
func (s *State) frozen(n numbers) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for i := range n.len {
			if at := n.at(i); s.stays(at) {
				if it := s.archive.item(at); it != nil && !yield(it) {
					return
				}
			}
		}
	}
}

// weave yields archived and loose items in one order: both come in it, but the
// loose ones, where it is backwards, the other way round.
func weave(frozen iter.Seq[*Item], loose []*Item, backwards bool) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		next := 0
		loosely := func(until *Item) bool {
			for ; next < len(loose); next++ {
				it := loose[next]
				if backwards {
					it = loose[len(loose)-1-next]
				}
				if until != nil && before(until, it) != backwards {
					break
				}
				if !yield(it) {
					return false
				}
			}
			return true
		}
		for it := range frozen {
			if !loosely(it) || !yield(it) {
				return
			}
		}
		loosely(nil)
	}
}

package fleet

import (
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// What is asked of the archive is a copy of the message each time: two items are
// the same message if their paths are.

// at is the message at p, nil if there is none.
func (s *State) at(p protocol.Path) *Item {
	if it := s.items[p]; it != nil {
		return it
	}
	if s.archive.size == 0 {
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

// under are the messages of the archive under a key of one of its tables for which
// is holds, and the loose ones given.
func (s *State) under(part int, key uint64, is func(*Item) bool, loose []*Item) []*Item {
	if s.archive.size == 0 {
		return loose
	}
	all := loose[:len(loose):len(loose)]
	for i := range pairs(s.archive.parts[part]).with(key) {
		if !s.stays(i) {
			continue
		}
		if it := s.archive.item(i); it != nil && is(it) {
			all = append(all, it)
		}
	}
	return all
}

// answersTo are the messages that name p as what they answer, in no order.
func (s *State) answersTo(p protocol.Path) []*Item {
	return s.under(partAnswers, pathKey(p), func(it *Item) bool {
		asked, ok := it.AnsweredPath()
		return ok && asked == p
	}, s.answers[p])
}

// asidesOf are the messages that agents wrote because of the one at p, without answering
// it, in no order.
func (s *State) asidesOf(p protocol.Path) []*Item {
	return s.under(partAsides, pathKey(p), func(it *Item) bool {
		cause, ok := it.asideOf()
		return ok && cause == p
	}, s.asides[p])
}

// asideOf is the message because of which an agent wrote this one to somebody, where it
// answers none: what it asked others on the way to its answer.
func (it *Item) asideOf() (protocol.Path, bool) {
	if it.Re != "" || it.Type != protocol.TypeText {
		return protocol.Path{}, false
	}
	return it.CausePath()
}

// receiptsFor are the receipts for the message at p, in no order.
func (s *State) receiptsFor(p protocol.Path) []*Item {
	return s.under(partReceipts, pathKey(p), func(it *Item) bool {
		read, ok := it.ReadPath()
		return ok && read == p
	}, s.receipts[p])
}

// withHash are the messages whose files have that hash.
func (s *State) withHash(hash string) []*Item {
	return s.under(partHashes, keyOf(hash), func(it *Item) bool { return it.Hash == hash }, s.byHash[hash])
}

// following are the messages that name that hash as what they follow.
func (s *State) following(hash string) []*Item {
	return s.under(partChained, keyOf(hash), func(it *Item) bool { return it.Prev == hash }, s.followers[hash])
}

// seated are the messages that claim the same place in the count of a host's run.
func (s *State) seated(at branch) []*Item {
	return s.under(partSeats, keyOf(at.String()), func(it *Item) bool { return it.sealed && it.seat() == at }, s.seats[at])
}

// requested are the messages that a request with that id led to.
func (s *State) requested(id string) []*Item {
	return s.under(partRequests, keyOf(id), func(it *Item) bool { return it.Request == id }, s.requests[id])
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

// named are the messages under a key of the table of suffixes, in the order of the
// record.
func (s *State) named(key string, is func(protocol.Path) bool) []*Item {
	var found []*Item
	for _, it := range s.order.items {
		if is(it.Path) {
			found = append(found, it)
		}
	}
	found = s.under(partSuffixes, keyOf(key), func(it *Item) bool { return is(it.Path) }, found)
	slices.SortFunc(found, byPlace)
	return found
}

// All yields every message in the order of the record. The state must not change
// meanwhile.
func (s *State) All() iter.Seq[*Item] {
	return weave(s.frozen(everything(s.archive.size)), s.order.items, false)
}

// Backward yields every message, the last first, under the same terms as All.
func (s *State) Backward() iter.Seq[*Item] {
	return weave(s.frozen(backward(everything(s.archive.size))), s.order.items, true)
}

// After yields what stands after a message in the order of the record, nil standing
// for none, under the same terms as All.
func (s *State) After(it *Item) iter.Seq[*Item] {
	if it == nil {
		return s.All()
	}
	from := int(s.archive.search(it))
	rest := numbers{s.archive.size - from, func(i int) uint32 { return uint32(from + i) }}
	return func(yield func(*Item) bool) {
		for next := range weave(s.frozen(rest), s.order.items[s.order.find(it):], false) {
			if next.Path != it.Path && !yield(next) {
				return
			}
		}
	}
}

// Channel yields the messages of one channel in the order of the record, under the
// same terms as All.
func (s *State) Channel(c protocol.ChannelID) iter.Seq[*Item] {
	return weave(s.frozen(s.listed(partChannels, c.String())), s.channels[c].all(), false)
}

// ChannelBackward yields the messages of one channel, the last first, under the same
// terms as All.
func (s *State) ChannelBackward(c protocol.ChannelID) iter.Seq[*Item] {
	return weave(s.frozen(backward(s.listed(partChannels, c.String()))), s.channels[c].all(), true)
}

// ChannelBefore yields the messages of one channel that stand before a message, the
// last first, under the same terms as All.
func (s *State) ChannelBefore(c protocol.ChannelID, it *Item) iter.Seq[*Item] {
	frozen, end := s.listed(partChannels, c.String()), s.archive.search(it)
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
	frozen, begin := s.listed(partChannels, c.String()), s.archive.search(it)
	from := sort.Search(frozen.len, func(i int) bool { return frozen.at(i) >= begin })
	rest := numbers{frozen.len - from, func(i int) uint32 { return frozen.at(from + i) }}
	loose := s.channels[c].all()
	if len(loose) > 0 {
		loose = loose[s.channels[c].find(it):]
	}
	return func(yield func(*Item) bool) {
		for next := range weave(s.frozen(rest), loose, false) {
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
func (s *State) listed(part int, word string) numbers {
	if id, ok := s.archive.wordOf(word); ok {
		l := lists(s.archive.parts[part]).of(id)
		return numbers{l.len(), l.at}
	}
	return numbers{}
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

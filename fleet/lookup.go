package fleet

import (
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/protocol"
)

// The archive gives a new copy of a message each time. Two items are the same message if they have
// the same path.

// at is the message at `p`, nil if there is none.
func (l *Ledger) at(p protocol.Path) *Item {
	if it := l.items[p]; it != nil {
		return it
	}
	if l.archive.Len() == 0 {
		return nil
	}
	if i, ok := l.archive.find(p); ok && l.stays(i) {
		return l.archive.item(i)
	}
	return nil
}

// stays reports whether a message of the archive still stands as the archive has it.
func (l *Ledger) stays(i uint32) bool {
	_, gone := l.gone[i]
	return !gone
}

// under returns the messages of the archive under a key of one of its indexes for which `is` holds,
// and with them the messages in `loose`.
func (l *Ledger) under(table int, key uint64, is func(*Item) bool, loose []*Item) []*Item {
	if l.archive.Len() == 0 {
		return loose
	}
	all := loose[:len(loose):len(loose)]
	for i := range l.archive.With(table, key) {
		if !l.stays(i) {
			continue
		}
		if it := l.archive.item(i); it != nil && is(it) {
			all = append(all, it)
		}
	}
	return all
}

// Find returns the messages whose name ends in the given suffix of eight or
// more hex digits (R2).
func (l *Ledger) Find(suffix string) []*Item {
	tail := "-" + suffix + ".md"
	return l.named(suffix, func(p protocol.Path) bool { return strings.HasSuffix(p.Rel(), tail) && p.Suffix() == suffix })
}

// FindRel returns the messages at that path below any channel.
func (l *Ledger) FindRel(rel string) []*Item {
	key := rel
	if p, err := protocol.JoinPath(l.system, rel); err == nil && p.Suffix() != "" {
		key = p.Suffix()
	}
	return l.named(key, func(p protocol.Path) bool { return p.Rel() == rel })
}

// named returns the messages under a key of the index `endings` for which `is` holds, in the order
// of the record.
func (l *Ledger) named(key string, is func(protocol.Path) bool) []*Item {
	var found []*Item
	for _, it := range l.order.items {
		if is(it.Path) {
			found = append(found, it)
		}
	}
	found = l.under(endings.table, archive.Key(key), func(it *Item) bool { return is(it.Path) }, found)
	slices.SortFunc(found, byPlace)
	return found
}

// Original is the message whose bytes have that hash: the message from which a file at another path
// was copied.
func (l *Ledger) Original(hash string) (protocol.Path, bool) {
	for _, it := range hashed.find(l, hash) {
		return it.Path, true
	}
	return protocol.Path{}, false
}

// All yields every message in the order of the record. The state must not change during the
// iteration.
func (l *Ledger) All() iter.Seq[*Item] {
	return weave(l.frozen(everything(l.archive.Len())), l.order.items, false)
}

// Backward yields every message, the last first. The state must not change during the iteration,
// here and in the methods below.
func (l *Ledger) Backward() iter.Seq[*Item] {
	return weave(l.frozen(backward(everything(l.archive.Len()))), l.order.items, true)
}

// After yields the messages behind `it` in the order of the record. If `it` is nil, it yields all.
func (l *Ledger) After(it *Item) iter.Seq[*Item] {
	if it == nil {
		return l.All()
	}
	return beyond(it, weave(l.frozen(l.archive.from(everything(l.archive.Len()), it)), l.order.from(it), false))
}

// beyond is `all` without `it`.
func beyond(it *Item, all iter.Seq[*Item]) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for next := range all {
			if next.Path != it.Path && !yield(next) {
				return
			}
		}
	}
}

// Channel yields the messages of one channel in the order of the record.
func (l *Ledger) Channel(c protocol.ChannelID) iter.Seq[*Item] {
	return weave(l.frozen(l.listed(listChannels, c.String())), l.channels[c].all(), false)
}

// ChannelBackward yields the messages of one channel, the last first.
func (l *Ledger) ChannelBackward(c protocol.ChannelID) iter.Seq[*Item] {
	return weave(l.frozen(backward(l.listed(listChannels, c.String()))), l.channels[c].all(), true)
}

// ChannelBefore yields the messages of one channel that stand before `it`, the last first.
func (l *Ledger) ChannelBefore(c protocol.ChannelID, it *Item) iter.Seq[*Item] {
	frozen, end := l.listed(listChannels, c.String()), l.archive.search(it)
	frozen.len = sort.Search(frozen.len, func(i int) bool { return frozen.at(i) >= end })
	loose := l.channels[c].all()
	if len(loose) > 0 {
		loose = loose[:l.channels[c].find(it)]
	}
	return weave(l.frozen(backward(frozen)), loose, true)
}

// Before yields the messages that stand before `it`, the last first.
func (l *Ledger) Before(it *Item) iter.Seq[*Item] {
	return weave(l.frozen(backward(everything(int(l.archive.search(it))))), l.order.items[:l.order.find(it)], true)
}

// ChannelAfter yields the messages of one channel that stand after `it`.
func (l *Ledger) ChannelAfter(c protocol.ChannelID, it *Item) iter.Seq[*Item] {
	return beyond(it, weave(l.frozen(l.archive.from(l.listed(listChannels, c.String()), it)), l.channels[c].from(it), false))
}

// Heads yields what Channel yields, or what ChannelAfter yields if `after` is not nil. It is for
// callers that keep no item: an item is valid only until the next one is yielded. A year has too
// many messages to make a new item for each.
func (l *Ledger) Heads(c protocol.ChannelID, after *Item) iter.Seq[*Item] {
	frozen, loose := l.listed(listChannels, c.String()), l.channels[c].all()
	if after != nil {
		frozen, loose = l.archive.from(frozen, after), l.channels[c].from(after)
	}
	heads := func(yield func(*Item) bool) {
		it := &Item{}
		for i := range frozen.len {
			if at := frozen.at(i); l.stays(at) && l.archive.read(at, it) && !yield(it) {
				return
			}
		}
	}
	if after == nil {
		return weave(heads, loose, false)
	}
	return beyond(after, weave(heads, loose, false))
}

// deedsFrom yields the deeds of an affair that do not stand before `it`.
func (l *Ledger) deedsFrom(id affair.ID, it *Item) iter.Seq[*Item] {
	frozen := l.archive.from(l.listed(listDeeds, listName(id)), it)
	return weave(l.frozen(frozen), l.deeds[id].from(it), false)
}

// mailOf yields the mail of a name in the order of the record. If `unread` is true, it may leave
// out what the name had read when the archive was made.
func (l *Ledger) mailOf(name string, unread bool) iter.Seq[*Item] {
	loose := slices.Concat(l.mail[name], l.mail[""])
	slices.SortFunc(loose, byPlace)
	return weave(l.frozen(l.archivedMail(name, unread)), loose, false)
}

func (l *Ledger) archivedMail(name string, unread bool) numbers {
	own, read := l.listed(listMail, name), numbers{}
	if unread {
		read = l.listed(listRead, name)
	}
	toAll := l.listed(listMail, "")
	left := make([]uint32, 0, max(0, own.len+toAll.len-read.len))
	for i, j, k := 0, 0, 0; i < own.len || j < toAll.len; {
		var at uint32
		if j == toAll.len || i < own.len && own.at(i) < toAll.at(j) {
			at, i = own.at(i), i+1
		} else {
			at, j = toAll.at(j), j+1
		}
		for k < read.len && read.at(k) < at {
			k++
		}
		if k == read.len || read.at(k) != at {
			left = append(left, at)
		}
	}
	return numbers{len(left), func(i int) uint32 { return left[i] }}
}

// numbers are messages of an archive: how many there are, and the number of the i-th.
type numbers struct {
	len int
	at  func(i int) uint32
}

func everything(n int) numbers { return numbers{n, func(i int) uint32 { return uint32(i) }} }

func backward(n numbers) numbers {
	return numbers{n.len, func(i int) uint32 { return n.at(n.len - 1 - i) }}
}

func (l *Ledger) listed(table int, name string) numbers {
	list := l.archive.List(table, name)
	return numbers{list.Len(), list.At}
}

// frozen yields those messages of the archive that still stand as the archive has them.
func (l *Ledger) frozen(n numbers) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for i := range n.len {
			if at := n.at(i); l.stays(at) {
				if it := l.archive.item(at); it != nil && !yield(it) {
					return
				}
			}
		}
	}
}

// weave yields archived and loose items in one order. Both must come in that order, except that
// `loose` is always in the order of the record, even if `backwards` is true.
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

package fleet

import (
	"iter"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Ledger is what was said, in the order of the record: which file stands at a path, where
// it stands among the others, and by what messages are found. What an archive holds stays
// there; what has come since, or has another place now, is loose.
//
// It knows nothing of keys: the function `judge` says what a file's signature is worth. It calls
// `moved` for each message that comes to a place or leaves one, and `forked` when a message comes to
// stand beside others of its host's chain, or does so no more.
type Ledger struct {
	system protocol.ChannelID
	judge  func(*keys.File) keys.Verdict
	moved  func(it *Item, place time.Time)
	forked func(host protocol.Name) // a message of that host comes to stand beside others in its chain, or does no more

	archive *reader
	gone    map[uint32]struct{} // messages of the archive that do not stand as they are there
	loose

	rivals map[protocol.Path][]*Item // files that lost their path to another
	lost   map[string][]*Item        // the same by hash
	forks  map[slot]struct{}         // where several messages of one host seem to stand

	unsettled    []*Item // those that have come, and those that stood behind what has gone
	changes      Changes // since the last Apply, Take or TakeAll began
	circled      bool    // references have been seen to run in a circle
	receiptsLeft int     // how many receipts have lost their paths
}

func newLedger(system protocol.ChannelID, kinds []affair.Any, judge func(*keys.File) keys.Verdict, moved func(*Item, time.Time), forked func(protocol.Name)) *Ledger {
	return &Ledger{
		system: system, judge: judge, moved: moved, forked: forked,
		archive: newReader(emptyArchive(kinds)),
		gone:    map[uint32]struct{}{},
		loose:   newLoose(),
		rivals:  map[protocol.Path][]*Item{},
		lost:    map[string][]*Item{},
		forks:   map[slot]struct{}{},
	}
}

// Item is a message as the state keeps it: without its body, but for deeds.
type Item struct {
	keys.File
	Place time.Time // where it stands in the order of the record

	affair affair.ID // whose deed it is, if it is one

	placed bool      // it stands at its Place in the order
	reach  time.Time // see stand
	moving bool      // it goes to next
	next   stand
}

// counts is 1 for a message that makes its author known, 0 for the word of a
// host, which nobody can write to.
func (it *Item) counts() int {
	if it.Sealed && it.From == it.Host.String() {
		return 0
	}
	return 1
}

// addressed are the names under which mail is listed: "" for mail to all, none for
// a receipt.
func (it *Item) addressed() []string {
	if _, receipt := it.ReadPath(); receipt {
		return nil
	}
	if it.ToAll() {
		return []string{""}
	}
	var names []string
	for i, a := range it.To {
		if !addressedBefore(it.To[:i], a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

func addressedBefore(to []protocol.Address, name string) bool {
	for _, a := range to {
		if a.Name == name {
			return true
		}
	}
	return false
}

// Len is the number of messages and receipts folded.
func (l *Ledger) Len() int { return l.archive.Len() - len(l.gone) + len(l.items) }

// Loose is how many of them are not in the state's archive.
func (l *Ledger) Loose() int { return len(l.items) }

// SameDay is the number of messages and receipts in the folder of p: those of one
// channel and day.
func (l *Ledger) SameDay(p protocol.Path) int {
	return l.sum(sumDays, p.DayDir())
}

// Item is the message at p.
func (l *Ledger) Item(p protocol.Path) (*Item, bool) {
	it := l.at(p)
	return it, it != nil
}

// has reports whether the file is old, which stands at its path, or one that has
// lost to it.
func (l *Ledger) has(old, it *Item) bool {
	return old != nil && (old.Hash == it.Hash || l.isRival(it))
}

// take takes in a file, which stands at its path unless another that is there beats it.
func (l *Ledger) take(it *Item, contested bool) {
	if !contested {
		l.add(it)
		return
	}
	l.lose(it)
	l.elect(it.Path)
}

func (l *Ledger) add(it *Item) {
	l.enter(it)
	l.noteFork(it)
	l.unsettled = append(l.unsettled, it)
}

// remove takes out a loose item whose path another file has won.
func (l *Ledger) remove(it *Item) {
	if it.placed {
		l.changes.left(it)
		l.moved(it, it.Place)
		for _, q := range l.sequences(it) {
			q.remove(it)
		}
		it.placed = false
	}
	l.leave(it)
	l.leaveFork(it)
	if it.Type == protocol.TypeRead {
		l.receiptsLeft++
	}
	l.unsettled = append(l.unsettled, l.after(it)...)
}

// files are those of a ledger as keys ask for them.
type files struct{ *Ledger }

// Signed is the sealed file with that hash, whether it stands at its path or has lost it
// to another; nil if there is none.
func (s files) Signed(hash string) *keys.File {
	if it := s.signed(hash); it != nil {
		return &it.File
	}
	return nil
}

// Files yields all files, those last that have lost their paths.
func (s files) Files() iter.Seq[*keys.File] {
	return func(yield func(*keys.File) bool) {
		for it := range s.every() {
			if !yield(&it.File) {
				return
			}
		}
	}
}

// signed is the sealed file with that hash, whether it stands at its path or has lost it
// to another; nil if there is none.
func (l *Ledger) signed(hash string) *Item {
	for _, it := range slices.Concat(hashed.find(l, hash), l.lost[hash]) {
		if it.Sealed {
			return it
		}
	}
	return nil
}

// every yields all files in the order of the record, then those that have lost their paths.
func (l *Ledger) every() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for it := range l.All() {
			if !yield(it) {
				return
			}
		}
		for _, list := range l.rivals {
			for _, it := range list {
				if !yield(it) {
					return
				}
			}
		}
	}
}

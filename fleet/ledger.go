package fleet

import (
	"iter"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Ledger is what was said, in the order of the record: which file stands at a path, where it stands
// among the others, and how messages are found. A message that the archive holds stays there. A
// message that has come since, or that has another place now, is loose.
//
// It knows nothing of keys: the function `judge` says what a file's signature is worth. It calls
// `moved` for each message that comes to a place or leaves one. It calls `forked` when a message
// comes to stand beside others in its host's chain, or no longer does.
type Ledger struct {
	system protocol.ChannelID
	judge  func(*keys.File) keys.Verdict
	moved  func(it *Item, place time.Time)
	forked func(host protocol.Name) // a message of that host came to stand beside others in its chain, or no longer does

	archive *reader
	gone    map[uint32]struct{} // messages of the archive that no longer stand as the archive has them
	loose

	rivals map[protocol.Path][]*Item // files that lost their path to another
	lost   map[string][]*Item        // the same files by hash
	forks  map[slot]struct{}         // places where several messages of one host seem to stand
	holes  map[string]struct{}       // by hash, the files that signed messages follow and that are not here

	unsettled    []*Item // messages that have come, and those that stood behind a message that is gone
	changes      Changes // since the last Apply, Take or TakeAll began
	circled      bool    // references that run in a circle have been seen
	receiptsLeft int     // how many receipts have lost their paths
	left         int     // how many messages have
}

func newLedger(system protocol.ChannelID, kinds []affair.Any, judge func(*keys.File) keys.Verdict, moved func(*Item, time.Time), forked func(protocol.Name)) *Ledger {
	return &Ledger{
		system: system, judge: judge, moved: moved, forked: forked,
		archive: newReader(&Archive{Archive: archive.Empty(layout(kinds)), kinds: kinds}),
		gone:    map[uint32]struct{}{},
		loose:   newLoose(),
		rivals:  map[protocol.Path][]*Item{},
		lost:    map[string][]*Item{},
		forks:   map[slot]struct{}{},
		holes:   map[string]struct{}{},
	}
}

// Item is a message as the state keeps it: without its body, unless it is a deed.
type Item struct {
	keys.File
	Place time.Time // where it stands in the order of the record

	affair affair.ID // the affair whose deed it is, if it is one

	placed bool      // it stands at its Place in the order
	reach  time.Time // see stand
	moving bool      // its place is about to become `next`
	next   stand
}

func (it *Item) position() affair.Position { return affair.Position{Place: it.Place, Path: it.Path} }

// addressed are the names under which mail is listed. Mail to all is under "", and a receipt is
// under none.
func (it *Item) addressed() []string {
	if _, receipt := it.ReadPath(); receipt {
		return nil
	}
	if it.ToAll() {
		return []string{""}
	}
	return it.names()
}

// names are the names of the addressees, each once.
func (it *Item) names() (names []string) {
	for i, a := range it.To {
		if !addressedBefore(it.To[:i], a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

func addressedBefore(to []protocol.Address, name string) bool {
	return slices.ContainsFunc(to, func(a protocol.Address) bool { return a.Name == name })
}

// Len is the number of messages and receipts.
func (l *Ledger) Len() int { return l.archive.Len() - len(l.gone) + len(l.items) }

// Loose is how many messages and receipts are not in the state's archive.
func (l *Ledger) Loose() int { return len(l.items) }

// SameDay is about how many messages and receipts the folder of `p` has: those of its channel whose
// place is on its day.
func (l *Ledger) SameDay(p protocol.Path) int {
	day := p.Time().Truncate(24 * time.Hour)
	begin, end := &Item{Place: day}, &Item{Place: day.Add(24 * time.Hour)}
	archived, loose := l.listed(listChannels, p.Channel().String()), l.channels[p.Channel()]
	return l.archive.from(archived, begin).len - l.archive.from(archived, end).len + len(loose.from(begin)) - len(loose.from(end))
}

// Item is the message at p.
func (l *Ledger) Item(p protocol.Path) (*Item, bool) {
	it := l.at(p)
	return it, it != nil
}

// has reports whether the file is there already: it is `old`, which stands at its path, or a file
// that has lost that path.
func (l *Ledger) has(old, it *Item) bool {
	return old != nil && (old.Hash == it.Hash || slices.ContainsFunc(l.rivals[it.Path], func(r *Item) bool { return r.Hash == it.Hash }))
}

// take adds a file. It stands at its path, unless another file there is preferred.
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
	l.noteHole(it)
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
	for _, at := range it.places() {
		if _, noted := l.forks[at]; noted && it.Sealed {
			l.tellFork(it)
		}
	}
	l.left++
	if it.Type == protocol.TypeRead {
		l.receiptsLeft++
	}
	l.unsettled = append(l.unsettled, l.after(it)...)
}

// files gives the files of a ledger to package keys.
type files struct{ *Ledger }

// Signed is the sealed file with that hash, whether it stands at its path or has lost the path to
// another file. It is nil if there is none.
func (s files) Signed(hash string) *keys.File {
	if it := s.signed(hash); it != nil {
		return &it.File
	}
	return nil
}

// Files yields all files; those that have lost their paths come last.
func (s files) Files() iter.Seq[*keys.File] {
	return func(yield func(*keys.File) bool) {
		for it := range s.every() {
			if !yield(&it.File) {
				return
			}
		}
	}
}

// signed is the sealed file with that hash, whether it stands at its path or has lost the path to
// another file. It is nil if there is none.
func (l *Ledger) signed(hash string) *Item {
	return each.Find(slices.Concat(hashed.find(l, hash), l.lost[hash]), func(it *Item) bool { return it.Sealed })
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

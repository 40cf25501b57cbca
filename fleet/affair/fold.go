package affair

import (
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Source gives the deeds of one affair, and that of the fleet on which the standing of the deeds
// depends.
type Source interface {
	// After yields the messages behind a position in the order of the record. The zero position is
	// before all.
	After(p Position) iter.Seq[*Candidate]
	// Epoch rises whenever what the host has said may be judged differently. The epoch of "" rises
	// whenever it may have changed whom hosts declare, or since when.
	Epoch(host protocol.Name) int
}

// Candidate is a message that may be a deed.
type Candidate struct {
	Deed
	Sealed bool          // its host has signed it, whoever it says wrote it
	Void   error         // if not nil, why it is no deed, whatever it says: its signature
	Epoch  protocol.Name // the host on whose epoch Void and the Deed depend
	Names  bool          // they also depend on whom hosts declare
}

// Fold is one affair, folded: its value, its void deeds, and marks. A mark is an earlier value. If
// a message comes in between, the fold goes on from the last mark before that message.
//
// It is not safe for concurrent use.
type Fold struct {
	kind  Any
	name  string
	marks []mark // in the order of the record; the last is the value
	since int    // deeds since the last mark but one
	void  []void // in the order of the record
	seen  map[protocol.Name]int
	whole bool // no deed came or left since the last fold
}

// mark is the value after all deeds up to a position.
type mark struct {
	Position
	value any
}

type void struct {
	Position
	why error
}

// between is the number of deeds between two marks that are kept, at first. If there are too many
// marks, every second one is dropped.
const (
	between  = 64
	maxMarks = 64
)

// NewFold is the affair before its first deed.
func NewFold(kind Any, name string) *Fold {
	f := &Fold{kind: kind, name: name}
	f.forget()
	return f
}

func (f *Fold) forget() {
	f.marks = []mark{{value: f.kind.begin(f.name)}}
	f.since, f.void, f.seen, f.whole = 0, nil, map[protocol.Name]int{}, false
}

// Changed notes that a message of the affair came to that position, or left it.
func (f *Fold) Changed(p Position) {
	f.marks = f.marks[:1+sort.Search(len(f.marks)-1, func(i int) bool { return !f.marks[1+i].Before(p) })]
	last := f.marks[len(f.marks)-1].Position
	f.void = f.void[:sort.Search(len(f.void), func(i int) bool { return last.Before(f.void[i].Position) })]
	f.since, f.whole = 0, false
}

// Value is the value of the affair now.
func (f *Fold) Value(from Source, now time.Time) any {
	f.read(from)
	return f.kind.at(f.marks[len(f.marks)-1].value, now)
}

// Void says why the deed at a position is void. It is nil if the deed counts.
func (f *Fold) Void(from Source, p Position) error {
	f.read(from)
	i := sort.Search(len(f.void), func(i int) bool { return !f.void[i].Before(p) })
	if i < len(f.void) && f.void[i].Position == p {
		return f.void[i].why
	}
	return nil
}

func (f *Fold) read(from Source) {
	for host, epoch := range f.seen {
		if from.Epoch(host) != epoch {
			f.forget()
			break
		}
	}
	if f.whole { // the search for something behind the last deed would read the archive
		return
	}
	f.whole = true
	for c := range from.After(f.marks[len(f.marks)-1].Position) {
		f.seen[c.Epoch] = from.Epoch(c.Epoch)
		if c.Names {
			f.seen[""] = from.Epoch("")
		}
		value := f.marks[len(f.marks)-1].value
		next, err := value, c.Void
		if err == nil {
			next, err = f.kind.step(value, c.Deed)
		}
		if err != nil {
			f.void = append(f.void, void{c.Position, err})
			next = value
		}
		f.mark(mark{c.Position, next})
	}
}

// mark adds a value. The value takes the place of the last mark, unless that one is to be kept.
func (f *Fold) mark(m mark) {
	if f.since++; f.since%between != 1 && len(f.marks) > 1 {
		f.marks[len(f.marks)-1] = m
		return
	}
	f.marks = append(f.marks, m)
	if len(f.marks) > maxMarks {
		i := -1
		f.marks = slices.DeleteFunc(f.marks, func(mark) bool { i++; return i%2 == 1 && i < len(f.marks)-2 })
	}
}

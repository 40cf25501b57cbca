package fleet

import (
	"sort"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// ErrArchive says that bytes are no archive that this program can use.
var ErrArchive = archive.ErrUnfit

// archiveForm changes with the form of archives, and with every rule by which the fold makes a
// state out of messages. An archive of another form is made anew.
const archiveForm = "parley-archive-21"

// Archive is a part of a state that does not change. It is read where it lies, in bytes that the
// caller keeps. It has messages in the order of the record, without signatures. Only deeds have
// their bodies.
//
// The methods of an Archive may be called concurrently.
type Archive struct {
	*archive.Archive
	kinds []affair.Any
	stamp string
	rest  rest
}

// OpenArchive reads what a Snapshot wrote for the record with that id. The data must not change
// while the archive, or a state with it, is in use. The error is ErrArchive if the data are
// damaged, or come from another form, another record, or a state that folded other kinds of
// affairs.
func OpenArchive(recordID string, data []byte, kinds ...affair.Any) (*Archive, error) {
	kinds = withRuns(kinds)
	opened, err := archive.Open(layout(kinds), data)
	if err != nil {
		return nil, err
	}
	a := &Archive{Archive: opened, kinds: kinds}
	if err := a.readRest(recordID); err != nil {
		return nil, err
	}
	return a, nil
}

// Stamp is what the snapshot was stamped with.
func (a *Archive) Stamp() string { return a.stamp }

// reader makes items out of records; it is for one goroutine at a time.
type reader struct {
	*archive.Reader
	of *Archive
}

func newReader(a *Archive) *reader { return &reader{archive.NewReader(a.Archive), a} }

// item is a message of the archive. It is nil if the record of the message makes no sense.
func (r *reader) item(i uint32) *Item {
	c := r.Record(i)
	it := readItem(&c)
	if c.Bad() {
		return nil
	}
	return it
}

// read reads a message of the archive into `it`, and uses the memory of the lists that `it` has. It
// reports whether the record makes sense.
func (r *reader) read(i uint32, it *Item) bool {
	c := r.Record(i)
	*it = Item{File: keys.File{Message: protocol.Message{To: it.To[:0], Chosen: it.Chosen[:0]}}}
	readInto(&c, it)
	return !c.Bad()
}

// stands is a message of the archive that has only its path and its place.
func (r *reader) stands(i uint32) (it Item) {
	c := r.Record(i)
	readStand(&c, &it)
	return it
}

func (r *reader) find(p protocol.Path) (i uint32, ok bool) {
	for i := range r.With(pathed.table, pathKey(p)) {
		if it := r.stands(i); it.Path == p {
			return i, true
		}
	}
	return 0, false
}

// from returns those of the messages `n`, which rise, that do not stand before `it`.
func (r *reader) from(n numbers, it *Item) numbers {
	begin := r.search(it)
	from := sort.Search(n.len, func(i int) bool { return n.at(i) >= begin })
	return numbers{n.len - from, func(i int) uint32 { return n.at(from + i) }}
}

// search is the number of the first message that does not stand before `it`. In most cases `it`
// came after everything in the archive, and there is none.
func (r *reader) search(it *Item) uint32 {
	low, high := uint32(0), uint32(r.Len())
	if high > 0 {
		if last := r.stands(high - 1); before(&last, it) {
			return high
		}
	}
	for low < high {
		middle := low + (high-low)/2
		if at := r.stands(middle); before(&at, it) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

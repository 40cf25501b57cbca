package fleet

import (
	"fmt"

	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// rest is what an archive holds as a whole, because it is small.
type rest struct {
	circled bool
	rivals  []*Item // files that lost their path to another file
	keys    keys.Kept
	forks   map[slot]struct{}
	holes   map[string]struct{}
	census  census
}

func (r *rest) append(w *archive.Pen, recordID, stamp string) {
	w.Text(recordID)
	w.Text(stamp)
	w.Number(when(r.circled, 1))
	w.Number(uint64(len(r.rivals)))
	for _, it := range r.rivals {
		writeItem(w, it)
		writeSaid(w, it)
	}
	w.Number(uint64(len(r.keys.Words)))
	for _, f := range r.keys.Words {
		it := displaced(f)
		writeItem(w, it)
		writeSaid(w, it)
	}
	w.Number(uint64(len(r.keys.Last)))
	for who, f := range r.keys.Last {
		writeItem(w, displaced(f))
		writeItem(w, displaced(r.keys.First[who]))
		w.Number(uint64(r.keys.Signed[who]))
	}
	w.Number(uint64(len(r.forks)))
	for at := range r.forks {
		w.Text(at.host.String())
		w.Text(at.prev)
		w.Text(at.run)
		w.Number(at.seq)
	}
	w.Number(uint64(len(r.holes)))
	for hash := range r.holes {
		w.Text(hash)
	}
	r.census.append(w)
}

// displaced returns a file as an item. The item's place means nothing.
func displaced(f *keys.File) *Item {
	return &Item{File: *f, Place: f.Timestamp, reach: f.Timestamp}
}

func writeSaid(w *archive.Pen, it *Item) {
	if it.Word == nil {
		w.Text("")
		return
	}
	w.Text(protocol.FormatHostWord(it.Act, it.Word))
}

// readRest reads the rest. It refuses an archive of another record.
func (a *Archive) readRest(recordID string) error {
	c := newReader(a).Remainder()
	if id := c.Text(); c.Bad() || id != recordID {
		return fmt.Errorf("%w: it is of another record", ErrArchive)
	}
	a.stamp = c.Text()
	a.rest = rest{circled: c.Number() == 1, keys: keys.Kept{Last: map[keys.Signer]*keys.File{}, First: map[keys.Signer]*keys.File{}, Signed: map[keys.Signer]int{}}, forks: map[slot]struct{}{}, holes: map[string]struct{}{}}
	var err error
	var words []*Item
	if a.rest.rivals, err = readWords(&c); err == nil {
		words, err = readWords(&c)
	}
	if err != nil {
		return fmt.Errorf("%w: what a host said of itself is malformed: %w", ErrArchive, err)
	}
	for _, it := range words {
		a.rest.keys.Words = append(a.rest.keys.Words, &it.File)
	}
	for n := c.Number(); n > 0 && !c.Bad(); n-- {
		last, first := readItem(&c), readItem(&c)
		who := last.Signer()
		a.rest.keys.Last[who], a.rest.keys.First[who], a.rest.keys.Signed[who] = &last.File, &first.File, int(c.Number())
	}
	for n := c.Number(); n > 0 && !c.Bad(); n-- {
		a.rest.forks[slot{protocol.Name(c.Text()), c.Text(), c.Text(), c.Number()}] = struct{}{}
	}
	for n := c.Number(); n > 0 && !c.Bad(); n-- {
		a.rest.holes[c.Text()] = struct{}{}
	}
	a.rest.census = readCensus(&c)
	if c.Bad() {
		return fmt.Errorf("%w: it is cut short", ErrArchive)
	}
	return nil
}

func readWords(r *archive.Cursor) (all []*Item, err error) {
	for n := r.Number(); n > 0 && !r.Bad(); n-- {
		it := readItem(r)
		it.placed = false
		if text := r.Text(); text != "" {
			if it.Word, err = protocol.ParseHostWord(it.Act, text); err != nil {
				return nil, err
			}
		}
		all = append(all, it)
	}
	return all, nil
}

// note keeps the greatest and the smallest path that each signer has signed.
func (r *rest) note(it *Item) {
	if it.Sealed {
		who := it.Signer()
		r.keys.Last[who], r.keys.First[who] = keys.Later(r.keys.Last[who], &it.File), keys.Earlier(r.keys.First[who], &it.File)
	}
}

package fleet

import (
	"fmt"

	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/protocol"
)

// signer is an alias and a key that signed for it, whether it is the host's or not.
type signer struct {
	host protocol.Name
	key  string
}

// rest is what an archive holds whole, because there is little of it.
type rest struct {
	circled bool
	rivals  []*Item          // files that lost their path to another
	words   []*Item          // what hosts said of hosts, whichever files won their paths
	last    map[signer]*Item // the greatest path that each signed
	signed  map[signer]int   // how many files each signed
	forks   map[branch]struct{}
	census  census
}

// append writes it down.
func (r *rest) append(w *archive.Pen, recordID, stamp string) {
	w.Text(recordID)
	w.Text(stamp)
	w.Number(when(r.circled, 1))
	w.Number(uint64(len(r.rivals)))
	for _, it := range r.rivals {
		writeItem(w, it)
		writeSaid(w, it)
	}
	w.Number(uint64(len(r.words)))
	for _, it := range r.words {
		writeItem(w, it)
		writeSaid(w, it)
	}
	w.Number(uint64(len(r.last)))
	for who, it := range r.last {
		writeItem(w, it)
		w.Number(uint64(r.signed[who]))
	}
	w.Number(uint64(len(r.forks)))
	for at := range r.forks {
		w.Text(at.host.String())
		w.Text(at.prev)
		w.Text(at.run)
		w.Number(at.seq)
	}
	r.census.append(w)
}

// writeSaid writes what the item says of its host, if it does.
func writeSaid(w *archive.Pen, it *Item) {
	if it.word == nil {
		w.Text("")
		return
	}
	w.Text(protocol.FormatHostWord(it.Act, it.word))
}

// readRest reads it, and refuses an archive of another record.
func (a *Archive) readRest(recordID string) error {
	c := newReader(a).Rest()
	if id := c.Text(); c.Bad() || id != recordID {
		return fmt.Errorf("%w: it is of another record", ErrArchive)
	}
	a.stamp = c.Text()
	a.rest = rest{circled: c.Number() == 1, last: map[signer]*Item{}, signed: map[signer]int{}, forks: map[branch]struct{}{}}
	var err error
	if a.rest.rivals, err = readWords(&c); err == nil {
		a.rest.words, err = readWords(&c)
	}
	if err != nil {
		return fmt.Errorf("%w: what a host said of itself is malformed: %w", ErrArchive, err)
	}
	for n := c.Number(); n > 0 && !c.Bad(); n-- {
		it := readItem(&c)
		a.rest.last[signer{it.Host, it.Key}] = it
		a.rest.signed[signer{it.Host, it.Key}] = int(c.Number())
	}
	for n := c.Number(); n > 0 && !c.Bad(); n-- {
		a.rest.forks[branch{protocol.Name(c.Text()), c.Text(), c.Text(), c.Number()}] = struct{}{}
	}
	a.rest.census = readCensus(&c)
	if c.Bad() {
		return fmt.Errorf("%w: it is cut short", ErrArchive)
	}
	return nil
}

// readWords reads items with what they say of their hosts.
func readWords(r *archive.Cursor) (all []*Item, err error) {
	for n := r.Number(); n > 0 && !r.Bad(); n-- {
		it := readItem(r)
		it.placed = false
		if text := r.Text(); text != "" {
			if it.word, err = protocol.ParseHostWord(it.Act, text); err != nil {
				return nil, err
			}
		}
		all = append(all, it)
	}
	return all, nil
}

// note keeps the greatest path of each signer.
func (r *rest) note(it *Item) {
	if it.sealed {
		who := signer{it.Host, it.Key}
		r.last[who] = later(r.last[who], it)
	}
}

package fleet

import (
	"fmt"

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
func (r *rest) append(w *pen, recordID, stamp string) {
	w.text(recordID)
	w.text(stamp)
	w.number(when(r.circled, 1))
	w.number(uint64(len(r.rivals)))
	for _, it := range r.rivals {
		w.item(it)
		w.said(it)
	}
	w.number(uint64(len(r.words)))
	for _, it := range r.words {
		w.item(it)
		w.said(it)
	}
	w.number(uint64(len(r.last)))
	for who, it := range r.last {
		w.item(it)
		w.number(uint64(r.signed[who]))
	}
	w.number(uint64(len(r.forks)))
	for at := range r.forks {
		w.text(at.host.String())
		w.text(at.prev)
		w.text(at.run)
		w.number(at.seq)
	}
	r.census.append(w)
}

// said writes what the item says of its host, if it does.
func (w *pen) said(it *Item) {
	if it.word == nil {
		w.text("")
		return
	}
	w.text(protocol.FormatHostWord(it.Act, it.word))
}

// readRest reads it, and refuses an archive of another record.
func (a *Archive) readRest(recordID string) error {
	c := &cursor{data: a.parts[partRest], shared: newReader(a).word}
	if id := c.text(); c.bad || id != recordID {
		return fmt.Errorf("%w: it is of another record", ErrArchive)
	}
	a.stamp = c.text()
	a.rest = rest{circled: c.number() == 1, last: map[signer]*Item{}, signed: map[signer]int{}, forks: map[branch]struct{}{}}
	var err error
	if a.rest.rivals, err = c.words(); err == nil {
		a.rest.words, err = c.words()
	}
	if err != nil {
		return fmt.Errorf("%w: what a host said of itself is malformed: %w", ErrArchive, err)
	}
	for n := c.number(); n > 0 && !c.bad; n-- {
		it := c.item()
		a.rest.last[signer{it.Host, it.Key}] = it
		a.rest.signed[signer{it.Host, it.Key}] = int(c.number())
	}
	for n := c.number(); n > 0 && !c.bad; n-- {
		a.rest.forks[branch{protocol.Name(c.text()), c.text(), c.text(), c.number()}] = struct{}{}
	}
	a.rest.census = c.census()
	if c.bad {
		return fmt.Errorf("%w: it is cut short", ErrArchive)
	}
	return nil
}

// words reads items with what they say of their hosts.
func (r *cursor) words() (all []*Item, err error) {
	for n := r.number(); n > 0 && !r.bad; n-- {
		it := r.item()
		it.placed = false
		if text := r.text(); text != "" {
			if it.word, err = protocol.ParseHostWord(it.Act, text); err != nil {
				return nil, err
			}
		}
		all = append(all, it)
	}
	return all, nil
}

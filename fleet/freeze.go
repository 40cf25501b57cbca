package fleet

import (
	"io"
	"maps"
	"slices"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Snapshot is a state at a moment. It can be written as an archive while the state goes on. It does
// not copy what the state's archive already has.
type Snapshot struct {
	recordID string
	old      *reader // a reader of its own
	gone     map[uint32]struct{}
	loose    []frozen // in the order of the record
	rest     rest
	ring     *keys.Ring // a ring of its own
	judged   int
	shaken   int
	anew     bool // which mail is read must be found out anew
}

// frozen is a message that goes into an archive.
type frozen struct {
	*Item        // as it was at that moment
	source *Item // the item in the state
	index  uint32
}

// Snapshot copies what is not in the state's archive yet, and costs as much as that. It must not be
// called during Batch.
func (s *State) Snapshot() *Snapshot {
	judged, shaken := s.turns()
	sn := &Snapshot{
		recordID: s.anchor.RecordID, old: newReader(s.Ledger.archive.of), gone: maps.Clone(s.Ledger.gone), judged: judged, shaken: shaken, anew: judged != s.frozenAt.judged,
		loose: make([]frozen, len(s.Ledger.order.items)), ring: s.Keys().Judges(),
		rest: rest{circled: s.Ledger.circled, keys: s.keys.Keep(), forks: maps.Clone(s.Ledger.forks), holes: maps.Clone(s.Ledger.holes), census: s.Ledger.archive.of.rest.census},
	}
	copies := slices.Grow([]Item(nil), len(s.Ledger.order.items))
	for i, it := range s.Ledger.order.items {
		copies = append(copies, *it)
		sn.loose[i] = frozen{Item: &copies[i], source: it}
	}
	// Loose messages may be left out later. So the last message of their signers is only found out
	// when the snapshot is written.
	sn.rest.keys.Last, sn.rest.keys.First = map[keys.Signer]*keys.File{}, map[keys.Signer]*keys.File{}
	maps.Copy(sn.rest.keys.Last, s.Ledger.archive.of.rest.keys.Last)
	maps.Copy(sn.rest.keys.First, s.Ledger.archive.of.rest.keys.First)
	for _, list := range s.Ledger.rivals {
		for _, it := range list {
			rival := *it
			sn.rest.rivals = append(sn.rest.rivals, &rival)
		}
	}
	return sn
}

// Len is how many messages the snapshot would add to the archive.
func (sn *Snapshot) Len() int { return len(sn.loose) }

// Only leaves out the files for which `kept` is false. `kept` is told whether the file is
// contested, which means that other files claim its path. Every contested file must be kept. Else
// Only returns false, and the snapshot is of no use.
func (sn *Snapshot) Only(kept func(p protocol.Path, hash string, contested bool) bool) bool {
	contested := map[protocol.Path]bool{}
	for _, it := range sn.rest.rivals {
		contested[it.Path] = true
		if !kept(it.Path, it.Hash, true) {
			return false
		}
	}
	out := map[string]bool{}
	whole := true
	sn.loose = slices.DeleteFunc(sn.loose, func(f frozen) bool {
		if kept(f.Path, f.Hash, contested[f.Path]) {
			return false
		}
		whole = whole && !contested[f.Path]
		if f.Sealed {
			sn.rest.keys.Signed[f.Signer()]--
		}
		out[f.Hash] = true
		return true
	})
	sn.rest.keys.Words = slices.DeleteFunc(sn.rest.keys.Words, func(f *keys.File) bool { return out[f.Hash] })
	return whole
}

// Write writes the snapshot, together with the content of the old archive, as an archive. `stamp`
// is for whoever opens the archive. Write needs memory for what is new, and some bytes for each
// message of the old archive.
func (sn *Snapshot) Write(to io.Writer, stamp string) error {
	b := archive.NewBuilder(sn.old.Archive, sn.gone)
	for i := range sn.loose {
		f := &sn.loose[i]
		f.index = b.Insert(sn.old.search(f.Item), func(w *archive.Pen) { writeItem(w, f.Item) })
		sn.rest.note(f.Item)
	}
	for _, it := range sn.rest.rivals {
		sn.rest.note(it)
	}
	sn.rest.census = sn.rest.census.clone() // a copy, because the old archive keeps its own
	for i := range sn.loose {
		f := &sn.loose[i]
		for table, x := range indexes {
			if key, ok := x.keyOf(f.Item); ok {
				b.Index(table, key, f.index)
			}
		}
		b.List(listChannels, f.Path.Channel().String(), f.index)
		for _, name := range f.addressed() {
			b.List(listMail, name, f.index)
		}
		if f.affair != (affair.ID{}) {
			b.List(listDeeds, listName(f.affair), f.index)
		}
		sn.rest.census.add(f.Item, 1)
	}
	for i := range sn.gone {
		if it := sn.old.item(i); it != nil {
			sn.rest.census.add(it, -1)
		}
	}
	sn.read(b)
	b.Remainder(func(w *archive.Pen) { sn.rest.append(w, sn.recordID, stamp) })
	return b.Write(to)
}

// read lists mail that was read: under each name, the mail for which that name has left a receipt
// that counts. If the lists of the old archive still hold, it adds what they lack. Else it lists
// all mail.
func (sn *Snapshot) read(b *archive.Builder) {
	fresh := map[protocol.Path]*frozen{}
	for i := range sn.loose {
		fresh[sn.loose[i].Path] = &sn.loose[i]
	}
	tried := map[string]bool{} // mail that somebody may have tried again is not listed; it is looked up each time
	for list := range sn.old.Names(listDeeds) {
		tried[list] = true
	}
	for i := range sn.loose {
		if f := &sn.loose[i]; f.affair != (affair.ID{}) {
			tried[listName(f.affair)] = true
		}
	}
	where := func(p protocol.Path) (at uint32, ok bool) {
		if f := fresh[p]; f != nil {
			return f.index, true
		}
		if i, ok := sn.old.find(p); ok {
			return b.Now(i)
		}
		return 0, false
	}
	note := func(receipt *Item) {
		p, ok := receipt.ReadPath()
		if !ok || !receipt.Sealed || sn.ring.Signature(&receipt.File) != protocol.SignatureValid {
			return
		}
		if tried[listName(runID(p, receipt.From))] {
			return
		}
		if at, stays := where(p); stays {
			b.List(listRead, receipt.From, at)
		}
	}
	noteOld := func(i uint32) {
		if _, stays := b.Now(i); !stays {
			return
		}
		if it := sn.old.item(i); it != nil {
			note(it)
		}
	}
	for i := range sn.loose {
		f := &sn.loose[i]
		note(f.Item)
		if sn.anew || len(f.addressed()) == 0 {
			continue
		}
		for r := range sn.old.With(receipts.table, pathKey(f.Path)) {
			noteOld(r)
		}
	}
	if sn.anew {
		b.Anew(listRead)
		for r := range sn.old.Indexed(receipts.table) {
			noteOld(r)
		}
	}
}

// Adopt replaces the state's archive by one that the snapshot wrote. The old archive may be
// released then. What has changed since the snapshot stays loose.
func (s *State) Adopt(a *Archive, sn *Snapshot) {
	s.Ledger.adopt(a, sn)
	s.frozenAt.judged, s.frozenAt.shaken = sn.judged, sn.shaken
}

func (l *Ledger) adopt(a *Archive, sn *Snapshot) {
	old, before := l.archive, l.gone
	l.archive, l.gone = newReader(a), map[uint32]struct{}{}
	frozen := map[*Item]bool{}
	for _, f := range sn.loose {
		if now := l.items[f.Path]; now == f.source && now.newStand().equal(f.newStand()) {
			frozen[now] = true
		} else {
			l.vanish(f.Path)
		}
	}
	for i := range before {
		if _, known := sn.gone[i]; !known {
			l.vanish(old.stands(i).Path)
		}
	}
	rest := slices.DeleteFunc(l.order.items, func(it *Item) bool { return frozen[it] })
	l.loose = newLoose()
	for _, it := range rest {
		l.enter(it)
		for _, q := range l.sequences(it) {
			q.items = append(q.items, it)
		}
	}
	for i := range l.gone {
		l.counted.add(l.archive.item(i), -1)
	}
}

// vanish notes that the archive's message at `p` no longer stands there.
func (l *Ledger) vanish(p protocol.Path) {
	if i, ok := l.archive.find(p); ok {
		l.gone[i] = struct{}{}
	}
}

// Restore makes a state from an archive.
func Restore(anchor keys.Anchor, a *Archive) *State {
	s := New(anchor, a.kinds...)
	s.Ledger.archive = newReader(a)
	s.Ledger.circled = a.rest.circled
	for _, it := range a.rest.rivals {
		s.Ledger.lose(it)
	}
	maps.Copy(s.Ledger.forks, a.rest.forks)
	maps.Copy(s.Ledger.holes, a.rest.holes)
	s.keys.Restore(a.rest.keys)
	return s
}

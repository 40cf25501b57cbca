package fleet

import (
	"bufio"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Write writes the snapshot, with what the old archive holds, as an archive. The
// stamp is for whoever opens it. It takes memory for what is new, and some bytes
// for each message of the old archive.
func (sn *Snapshot) Write(to io.Writer, stamp string) error {
	b := &binder{sn: sn, sum: crc32.New(castagnoli()), words: map[string]uint32{}, moved: make([]uint32, sn.old.size)}
	b.out = bufio.NewWriterSize(io.MultiWriter(to, b.sum), 1<<18)
	b.write([]byte(archiveForm))
	b.intern("") // the word 0
	b.records()
	b.tables()
	b.lists()
	b.part(partRest, func() {
		w := pen{intern: b.intern}
		sn.rest.append(&w, sn.recordID, stamp)
		b.write(w.out)
	})
	b.strings()
	return b.close(to)
}

// binder writes the parts of an archive one after another.
type binder struct {
	sn    *Snapshot
	out   *bufio.Writer
	sum   hash.Hash32
	at    uint64
	parts [partCount][2]uint64
	size  uint32

	words map[string]uint32 // those that were met
	fresh []string          // those that the old archive lacks
	moved []uint32          // where each message of the old archive stands now, or noRecord
}

// write passes bytes on; a failure shows when the writer is flushed.
func (b *binder) write(data []byte) {
	_, _ = b.out.Write(data)
	b.at += uint64(len(data))
}

func (b *binder) part(i int, write func()) {
	b.parts[i][0] = b.at
	write()
	b.parts[i][1] = b.at
}

func (b *binder) close(to io.Writer) error {
	var end []byte
	for _, p := range b.parts {
		end = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(end, p[0]), p[1])
	}
	b.write(binary.LittleEndian.AppendUint32(end, b.size))
	if err := b.out.Flush(); err != nil {
		return err
	}
	_, err := to.Write(binary.LittleEndian.AppendUint32(nil, b.sum.Sum32()))
	return err
}

// intern gives a string its number: that of the old archive, or a new one.
func (b *binder) intern(s string) uint32 {
	id, ok := b.words[s]
	if ok {
		return id
	}
	if id, ok = b.sn.old.wordOf(s); !ok {
		id = uint32(b.sn.old.words() + len(b.fresh))
		b.fresh = append(b.fresh, s)
	}
	b.words[s] = id
	return id
}

// run is some messages of the old archive that stay together, or a new one.
type run struct {
	from, to uint32
	item     []byte
}

// records copies what stays of the old archive and puts what is new in between.
func (b *binder) records() {
	runs := b.plan()
	b.part(partRecords, func() {
		for _, r := range runs {
			if r.item != nil {
				b.write(r.item)
			} else if r.from < r.to {
				from, to := b.sn.old.offset(r.from), b.sn.old.offset(r.to)
				b.write(b.sn.old.parts[partRecords][from:to])
			}
		}
	})
	b.part(partOffsets, func() {
		end := uint64(0)
		b.number64(end)
		for _, r := range runs {
			if r.item != nil {
				end += uint64(len(r.item))
				b.number64(end)
				continue
			}
			for i := r.from; i < r.to; i++ {
				end += b.sn.old.offset(i+1) - b.sn.old.offset(i)
				b.number64(end)
			}
		}
	})
}

// now is where a message of the old archive stands in the new one, or noRecord.
func (b *binder) now(i uint32) uint32 {
	if int64(i) >= int64(len(b.moved)) {
		return noRecord
	}
	return b.moved[i]
}

func (b *binder) number64(n uint64) {
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], n)
	b.write(raw[:])
}

// plan gives every message its number in the new archive.
func (b *binder) plan() (runs []run) {
	old, next := b.sn.old, uint32(0)
	keep := func(upTo uint32) {
		for ; next < upTo; next++ {
			if _, gone := b.sn.gone[next]; gone {
				b.moved[next] = noRecord
				continue
			}
			b.moved[next] = b.size
			b.size++
			if last := len(runs) - 1; last >= 0 && runs[last].item == nil && runs[last].to == next {
				runs[last].to++
			} else {
				runs = append(runs, run{from: next, to: next + 1})
			}
		}
	}
	for i := range b.sn.loose {
		f := &b.sn.loose[i]
		keep(old.search(f.Item))
		w := pen{intern: b.intern}
		w.item(f.Item)
		runs = append(runs, run{item: w.out})
		f.index = b.size
		b.size++
		b.sn.rest.note(f.Item)
	}
	keep(uint32(old.size))
	for _, it := range b.sn.rest.rivals {
		b.sn.rest.note(it)
	}
	return runs
}

// note keeps the greatest path of each signer.
func (r *rest) note(it *Item) {
	if it.sealed {
		who := signer{it.Host, it.Key}
		r.last[who] = later(r.last[who], it)
	}
}

// tables merges the tables by which single messages are found.
func (b *binder) tables() {
	fresh := [partCount][]pair{}
	b.sn.rest.census = b.sn.rest.census.clone() // that of the old archive stays as it is
	days, writers := map[uint64]int{}, map[uint64]int{}
	for i := range b.sn.loose {
		f := &b.sn.loose[i]
		for part, key := range f.keys() {
			fresh[part] = append(fresh[part], pair{key, f.index})
		}
		days[keyOf(f.Path.DayDir())]++
		writers[keyOf(f.Author().Name)] += f.counts()
		b.sn.rest.census.add(f.Item, 1)
	}
	for i := range b.sn.gone {
		if it := b.sn.old.item(i); it != nil {
			days[keyOf(it.Path.DayDir())]--
			writers[keyOf(it.Author().Name)] -= it.counts()
			b.sn.rest.census.add(it, -1)
		}
	}
	for part := partPaths; part <= partSeats; part++ {
		slices.SortFunc(fresh[part], comparePairs)
		b.part(part, func() { b.merge(pairs(b.sn.old.parts[part]), true, fresh[part]) })
	}
	b.part(partDays, func() { b.sums(pairs(b.sn.old.parts[partDays]), days) })
	b.part(partWriters, func() { b.sums(pairs(b.sn.old.parts[partWriters]), writers) })
}

// keys are the keys under which a message is found, by the part.
func (it *Item) keys() map[int]uint64 {
	keys := map[int]uint64{partPaths: pathKey(it.Path), partSuffixes: suffixKey(it.Path), partHashes: keyOf(it.Hash)}
	if p, ok := it.AnsweredPath(); ok {
		keys[partAnswers] = pathKey(p)
	}
	if p, ok := it.asideOf(); ok {
		keys[partAsides] = pathKey(p)
	}
	if p, ok := it.ReadPath(); ok {
		keys[partReceipts] = pathKey(p)
	}
	if it.Prev != "" {
		keys[partChained] = keyOf(it.Prev)
	}
	if it.Request != "" {
		keys[partRequests] = keyOf(it.Request)
	}
	if it.sealed {
		keys[partSeats] = keyOf(it.seat().String())
	}
	return keys
}

// merge writes the entries of both tables. The old one's are renumbered where they
// are messages.
func (b *binder) merge(old pairs, renumbered bool, fresh []pair) {
	var raw [pairBytes]byte
	put := func(p pair) { b.write(appendPair(raw[:0], p)) }
	for _, p := range old.all() {
		if renumbered {
			p.value = b.now(p.value)
		}
		if p.value == noRecord {
			continue
		}
		for ; len(fresh) > 0 && comparePairs(fresh[0], p) < 0; fresh = fresh[1:] {
			put(fresh[0])
		}
		put(p)
	}
	for _, p := range fresh {
		put(p)
	}
}

// sums adds to the numbers of a table.
func (b *binder) sums(old pairs, more map[uint64]int) {
	var fresh []uint64
	for key := range more {
		if i := old.first(key); i == old.len() || old.at(i).key != key {
			fresh = append(fresh, key)
		}
	}
	slices.Sort(fresh)
	var raw [pairBytes]byte
	put := func(key uint64, n int) {
		if n > 0 {
			b.write(appendPair(raw[:0], pair{key, uint32(n)}))
		}
	}
	for i := range old.len() {
		p := old.at(i)
		for ; len(fresh) > 0 && fresh[0] < p.key; fresh = fresh[1:] {
			put(fresh[0], more[fresh[0]])
		}
		put(p.key, int(p.value)+more[p.key])
	}
	for _, key := range fresh {
		put(key, more[key])
	}
}

// lists merges the lists of messages.
func (b *binder) lists() {
	channels, mail := map[uint32][]uint32{}, map[uint32][]uint32{}
	for i := range b.sn.loose {
		f := &b.sn.loose[i]
		add := func(to map[uint32][]uint32, word string) { to[b.intern(word)] = append(to[b.intern(word)], f.index) }
		add(channels, f.Path.Channel().String())
		for _, name := range f.addressed() {
			add(mail, name)
		}
	}
	old := b.sn.old.parts
	b.part(partChannels, func() { b.mergeLists(lists(old[partChannels]), channels) })
	b.part(partMail, func() { b.mergeLists(lists(old[partMail]), mail) })
	read := lists(old[partRead])
	if b.sn.anew {
		read = nil
	}
	b.part(partRead, func() { b.mergeLists(read, b.read()) })
}

func (b *binder) mergeLists(old lists, fresh map[uint32][]uint32) {
	var head, all []byte
	count := uint32(0)
	put := func(id uint32, before list, more []uint32) {
		from := len(all)
		slices.Sort(more)
		more = slices.Compact(more)
		for i := range before.len() {
			at := b.now(before.at(i))
			for ; len(more) > 0 && at != noRecord && more[0] <= at; more = more[1:] {
				if more[0] < at {
					all = binary.LittleEndian.AppendUint32(all, more[0])
				}
			}
			if at != noRecord {
				all = binary.LittleEndian.AppendUint32(all, at)
			}
		}
		for _, at := range more {
			all = binary.LittleEndian.AppendUint32(all, at)
		}
		if len(all) > from {
			head = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(head, id), uint32(len(all)/4))
			count++
		}
	}
	ids := slices.Sorted(maps.Keys(fresh))
	for i := range old.len() {
		id := old.id(i)
		for ; len(ids) > 0 && ids[0] < id; ids = ids[1:] {
			put(ids[0], nil, fresh[ids[0]])
		}
		if len(ids) > 0 && ids[0] == id {
			ids = ids[1:]
		}
		put(id, old.list(i), fresh[id])
	}
	for _, id := range ids {
		put(id, nil, fresh[id])
	}
	b.write(binary.LittleEndian.AppendUint32(nil, count))
	b.write(head)
	b.write(all)
}

// strings writes the old archive's strings and those that have come.
func (b *binder) strings() {
	old := b.sn.old
	b.part(partStrings, func() {
		b.write(old.parts[partStrings])
		for _, s := range b.fresh {
			b.write([]byte(s))
		}
	})
	b.part(partLengths, func() {
		b.write(old.parts[partLengths])
		end := uint64(len(old.parts[partStrings]))
		for _, s := range b.fresh {
			end += uint64(len(s))
			b.number64(end)
		}
	})
	var keys []pair
	for i, s := range b.fresh {
		keys = append(keys, pair{keyOf(s), uint32(old.words() + i)})
	}
	slices.SortFunc(keys, comparePairs)
	b.part(partWords, func() { b.merge(pairs(old.parts[partWords]), false, keys) })
}

// read finds which mail has a receipt that counts, by the number of the name that
// left it: all of it, or where the old archive's lists hold, what they lack.
func (b *binder) read() map[uint32][]uint32 {
	fresh := map[protocol.Path]*frozen{}
	found := map[uint32][]uint32{}
	for i := range b.sn.loose {
		fresh[b.sn.loose[i].Path] = &b.sn.loose[i]
	}
	note := func(receipt *Item) {
		p, ok := receipt.ReadPath()
		if !ok || !receipt.sealed || b.sn.ring.signature(receipt) != protocol.SignatureValid {
			return
		}
		if at := b.where(fresh, p); at != noRecord {
			id := b.intern(receipt.From)
			found[id] = append(found[id], at)
		}
	}
	for i := range b.sn.loose {
		f := &b.sn.loose[i]
		note(f.Item)
		if b.sn.anew || len(f.addressed()) == 0 {
			continue
		}
		for r := range pairs(b.sn.old.parts[partReceipts]).with(pathKey(f.Path)) {
			if it := b.sn.old.item(r); it != nil && b.now(r) != noRecord {
				note(it)
			}
		}
	}
	if b.sn.anew {
		for _, p := range pairs(b.sn.old.parts[partReceipts]).all() {
			if it := b.sn.old.item(p.value); it != nil && b.now(p.value) != noRecord {
				note(it)
			}
		}
	}
	return found
}

// where is the number of the message at p in the new archive.
func (b *binder) where(fresh map[protocol.Path]*frozen, p protocol.Path) uint32 {
	if f := fresh[p]; f != nil {
		return f.index
	}
	if i, ok := b.sn.old.find(p); ok {
		return b.now(i)
	}
	return noRecord
}

package archive

import (
	"bufio"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
)

// Builder makes an archive from an old one and from what has come since. It needs memory for what
// is new, and some bytes for each record of the old archive.
//
// It is used in three steps: first all new records are inserted, then it is told how to find them,
// then it writes the archive.
type Builder struct {
	old  *Archive
	gone map[uint32]struct{}

	runs  []run
	next  uint32 // the first record of the old archive that has no number yet
	moved []uint32
	size  uint32

	words map[string]uint32 // the strings that were met
	fresh []string          // those of them that the old archive lacks

	indexes [][]pair
	lists   []map[uint32][]uint32
	anew    []bool // by table of lists: the lists of the old archive do not count
	rest    []byte

	out   *bufio.Writer
	sum   hash.Hash32
	at    uint64
	parts [][2]uint64
}

// none is the number of a record that is gone.
const none = math.MaxUint32

// run is a sequence of records of the old archive that stay together, or one new record.
type run struct {
	from, to uint32
	record   []byte
}

// NewBuilder begins with the records of `old`, without those in `gone`.
func NewBuilder(old *Archive, gone map[uint32]struct{}) *Builder {
	l := old.layout
	b := &Builder{
		old: old, gone: gone, moved: make([]uint32, old.size), words: map[string]uint32{},
		indexes: make([][]pair, l.Indexes), lists: make([]map[uint32][]uint32, l.Lists), anew: make([]bool, l.Lists),
		parts: make([][2]uint64, l.parts()),
	}
	for i := range b.lists {
		b.lists[i] = map[uint32][]uint32{}
	}
	b.intern("") // the word 0
	return b
}

// Insert puts a new record before the record of the old archive with the number `before`, and
// behind all that were inserted there earlier. It returns the new record's number.
func (b *Builder) Insert(before uint32, write func(*Pen)) uint32 {
	b.keep(before)
	w := Pen{out: []byte{}, intern: b.intern} // not nil, because an empty record is one too
	write(&w)
	b.runs = append(b.runs, run{record: w.out})
	b.size++
	return b.size - 1
}

// keep gives new numbers to the old records before `upTo`.
func (b *Builder) keep(upTo uint32) {
	for ; b.next < upTo; b.next++ {
		if _, gone := b.gone[b.next]; gone {
			b.moved[b.next] = none
			continue
		}
		b.moved[b.next] = b.size
		b.size++
		if last := len(b.runs) - 1; last >= 0 && b.runs[last].record == nil && b.runs[last].to == b.next {
			b.runs[last].to++
		} else {
			b.runs = append(b.runs, run{from: b.next, to: b.next + 1})
		}
	}
}

// Now is the number of an old record in the new archive. `ok` is false if the record is gone. After
// the first call, nothing may be inserted.
func (b *Builder) Now(i uint32) (at uint32, ok bool) {
	b.keep(uint32(b.old.size))
	at = b.moves(i)
	return at, at != none
}

func (b *Builder) moves(i uint32) uint32 {
	if int64(i) >= int64(len(b.moved)) {
		return none
	}
	return b.moved[i]
}

// Index makes a record of the new archive found under a key.
func (b *Builder) Index(table int, key uint64, at uint32) {
	b.indexes[table] = append(b.indexes[table], pair{key, at})
}

// List adds a record of the new archive to the list with a name.
func (b *Builder) List(table int, name string, at uint32) {
	id := b.intern(name)
	b.lists[table][id] = append(b.lists[table][id], at)
}

// Anew leaves out the lists that the old archive has in that table.
func (b *Builder) Anew(table int) { b.anew[table] = true }

// Remainder writes everything that is no record.
func (b *Builder) Remainder(write func(*Pen)) {
	w := Pen{intern: b.intern}
	write(&w)
	b.rest = w.out
}

// intern returns the number of a string: the number in the old archive, or a new one.
func (b *Builder) intern(s string) uint32 {
	id, ok := b.words[s]
	if ok {
		return id
	}
	if id, ok = b.old.wordOf(s); !ok {
		id = uint32(b.old.words() + len(b.fresh))
		b.fresh = append(b.fresh, s)
	}
	b.words[s] = id
	return id
}

// Write writes the archive.
func (b *Builder) Write(to io.Writer) error {
	b.keep(uint32(b.old.size))
	b.sum = crc32.New(castagnoli())
	b.out = bufio.NewWriterSize(io.MultiWriter(to, b.sum), 1<<18)
	b.write([]byte(b.old.layout.Form))
	b.records()
	b.strings()
	b.part(partRest, func() { b.write(b.rest) })
	b.tables()
	return b.close(to)
}

// write passes bytes on. A failure is reported when the writer is flushed.
func (b *Builder) write(data []byte) {
	_, _ = b.out.Write(data)
	b.at += uint64(len(data))
}

func (b *Builder) number64(n uint64) {
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], n)
	b.write(raw[:])
}

func (b *Builder) part(i int, write func()) {
	b.parts[i][0] = b.at
	write()
	b.parts[i][1] = b.at
}

func (b *Builder) close(to io.Writer) error {
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

// records copies the records of the old archive that stay, with the new records between them.
func (b *Builder) records() {
	b.part(partRecords, func() {
		for _, r := range b.runs {
			if r.record != nil {
				b.write(r.record)
			} else {
				b.write(b.old.parts[partRecords][b.old.offset(r.from):b.old.offset(r.to)])
			}
		}
	})
	b.part(partOffsets, func() {
		end := uint64(0)
		b.number64(end)
		for _, r := range b.runs {
			if r.record != nil {
				end += uint64(len(r.record))
				b.number64(end)
				continue
			}
			for i := r.from; i < r.to; i++ {
				end += b.old.offset(i+1) - b.old.offset(i)
				b.number64(end)
			}
		}
	})
}

// strings writes the strings of the old archive and the new ones.
func (b *Builder) strings() {
	old := b.old
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
		keys = append(keys, pair{Key(s), uint32(old.words() + i)})
	}
	b.part(partWords, func() { b.merge(pairs(old.parts[partWords]), func(id uint32) uint32 { return id }, keys) })
}

func (b *Builder) tables() {
	l := b.old.layout
	for i, fresh := range b.indexes {
		b.part(l.index(i), func() { b.merge(pairs(b.old.parts[l.index(i)]), b.moves, fresh) })
	}
	for i, fresh := range b.lists {
		old := lists(b.old.parts[l.list(i)])
		if b.anew[i] {
			old = nil
		}
		b.part(l.list(i), func() { b.mergeLists(old, fresh) })
	}
}

// merge writes the entries of both tables. The old ones get their new record numbers.
func (b *Builder) merge(old pairs, now func(uint32) uint32, fresh []pair) {
	slices.SortFunc(fresh, comparePairs)
	var raw [pairBytes]byte
	put := func(p pair) { b.write(appendPair(raw[:0], p)) }
	for p := range old.all() {
		if p.value = now(p.value); p.value == none {
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

func (b *Builder) mergeLists(old lists, fresh map[uint32][]uint32) {
	var head, all []byte
	count := uint32(0)
	put := func(id uint32, before List, more []uint32) {
		from := len(all)
		all = b.mergeList(all, before, more)
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

// mergeList appends the records of a list and those that have come, each once.
func (b *Builder) mergeList(all []byte, before List, more []uint32) []byte {
	slices.Sort(more)
	more = slices.Compact(more)
	for i := range before.Len() {
		at := b.moves(before.At(i))
		for ; len(more) > 0 && at != none && more[0] <= at; more = more[1:] {
			if more[0] < at {
				all = binary.LittleEndian.AppendUint32(all, more[0])
			}
		}
		if at != none {
			all = binary.LittleEndian.AppendUint32(all, at)
		}
	}
	for _, at := range more {
		all = binary.LittleEndian.AppendUint32(all, at)
	}
	return all
}

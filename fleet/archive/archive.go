// Package archive keeps many records in bytes that do not change. They are read where they lie,
// such as in a file that is mapped into memory. An archive holds no pointers, so it costs the
// process no memory besides those bytes. Records have an order. They are found by their number in
// that order, by keys and in lists. The program that writes an archive decides what a record says
// and how it is found.
package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
)

// ErrUnfit says that bytes are no archive that this program can use.
var ErrUnfit = errors.New("not an archive of this record")

// Layout is the shape of a program's archives.
type Layout struct {
	Form    string // changes with the layout, and with what records say
	Indexes int    // number of tables by which single records are found
	Lists   int    // number of tables of lists of records
}

// The parts of an archive. The end of the archive says where each part lies. Behind these parts
// come those of the indexes and lists.
const (
	partRecords = iota // the records in their order
	partOffsets        // where each record begins
	partStrings        // strings that many records share
	partLengths        // where each string ends
	partWords          // strings by their key
	partRest           // everything small, as a whole
	partTables
)

func (l Layout) parts() int { return partTables + l.Indexes + l.Lists }

// trailer is how many bytes the end of an archive has: where each part lies, the number of records,
// and a checksum.
func (l Layout) trailer() int { return 16*l.parts() + 8 }

func (l Layout) index(table int) int { return partTables + table }
func (l Layout) list(table int) int  { return partTables + l.Indexes + table }

// Archive is opened bytes. Its methods may be called concurrently.
type Archive struct {
	layout Layout
	parts  [][]byte
	size   int
}

// Empty is an archive without records.
func Empty(layout Layout) *Archive {
	a := &Archive{layout: layout, parts: make([][]byte, layout.parts())}
	a.parts[partOffsets] = bytes.Repeat([]byte{0}, 8)
	return a
}

// Open reads what a Builder wrote. The data must not change while the archive is in use. The error
// is ErrUnfit if the data are damaged, or of another form.
func Open(layout Layout, data []byte) (*Archive, error) {
	body := len(data) - layout.trailer()
	if body < len(layout.Form) || string(data[:len(layout.Form)]) != layout.Form {
		return nil, fmt.Errorf("%w: it has another form", ErrUnfit)
	}
	if crc32.Checksum(data[:len(data)-4], castagnoli()) != binary.LittleEndian.Uint32(data[len(data)-4:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrUnfit)
	}
	a := Empty(layout)
	trailer := data[body:]
	for i := range a.parts {
		from, to := binary.LittleEndian.Uint64(trailer[16*i:]), binary.LittleEndian.Uint64(trailer[16*i+8:])
		if from > to || to > uint64(body) {
			return nil, fmt.Errorf("%w: a part lies outside it", ErrUnfit)
		}
		a.parts[i] = data[from:to]
	}
	a.size = int(binary.LittleEndian.Uint32(trailer[16*len(a.parts):]))
	if len(a.parts[partOffsets]) != 8*(a.size+1) || len(a.parts[partLengths])%8 != 0 {
		return nil, fmt.Errorf("%w: its parts do not fit each other", ErrUnfit)
	}
	for i, before := 0, uint64(0); i <= a.size; i++ {
		end := a.offset(uint32(i))
		if end < before || end > uint64(len(a.parts[partRecords])) {
			return nil, fmt.Errorf("%w: a record lies outside it", ErrUnfit)
		}
		before = end
	}
	return a, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Len is the number of records.
func (a *Archive) Len() int { return a.size }

// With yields the records under a key of an index, in their order. Two texts may have the same key,
// so the caller must compare the records with the text.
func (a *Archive) With(index int, key uint64) iter.Seq[uint32] {
	return pairs(a.parts[a.layout.index(index)]).with(key)
}

// Indexed yields all records of an index, in the order of their keys.
func (a *Archive) Indexed(index int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for p := range pairs(a.parts[a.layout.index(index)]).all() {
			if !yield(p.value) {
				return
			}
		}
	}
}

// List is the records listed under a name, rising.
func (a *Archive) List(table int, name string) List {
	if id, ok := a.wordOf(name); ok {
		return lists(a.parts[a.layout.list(table)]).of(id)
	}
	return nil
}

// Names yields the names of a table's lists.
func (a *Archive) Names(table int) iter.Seq[string] {
	all := lists(a.parts[a.layout.list(table)])
	return func(yield func(string) bool) {
		for i := range all.len() {
			if !yield(string(a.wordBytes(all.id(i)))) {
				return
			}
		}
	}
}

func (a *Archive) record(i uint32) []byte {
	if int64(i) >= int64(a.size) {
		return nil
	}
	return a.parts[partRecords][a.offset(i):a.offset(i+1)]
}

func (a *Archive) offset(i uint32) uint64 {
	return binary.LittleEndian.Uint64(a.parts[partOffsets][8*i:])
}

func (a *Archive) words() int { return len(a.parts[partLengths]) / 8 }

func (a *Archive) wordBytes(id uint32) []byte {
	ends, from := a.parts[partLengths], uint64(0)
	if int64(id) >= int64(len(ends)/8) {
		return nil
	}
	if id > 0 {
		from = binary.LittleEndian.Uint64(ends[8*(id-1):])
	}
	to := binary.LittleEndian.Uint64(ends[8*id:])
	if from > to || to > uint64(len(a.parts[partStrings])) {
		return nil
	}
	return a.parts[partStrings][from:to]
}

func (a *Archive) wordOf(s string) (uint32, bool) {
	for id := range pairs(a.parts[partWords]).with(Key(s)) {
		if string(a.wordBytes(id)) == s {
			return id, true
		}
	}
	return 0, false
}

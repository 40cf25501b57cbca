package archive

import (
	"encoding/binary"
	"math"
	"time"
)

// Pen writes a record.
type Pen struct {
	out    []byte
	intern func(string) uint32
}

// Number writes a number.
func (w *Pen) Number(n uint64) { w.out = binary.AppendUvarint(w.out, n) }

// Signed writes a number that may be below zero.
func (w *Pen) Signed(n int64) { w.out = binary.AppendVarint(w.out, n) }

// Interned writes a string that many records share.
func (w *Pen) Interned(s string) { w.Number(uint64(w.intern(s))) }

// Text writes a string.
func (w *Pen) Text(s string) {
	w.Number(uint64(len(s)))
	w.out = append(w.out, s...)
}

// Raw writes bytes without their number: the reader has to know it.
func (w *Pen) Raw(data []byte) { w.out = append(w.out, data...) }

// Time writes a time.
func (w *Pen) Time(t time.Time) {
	w.Signed(t.Unix())
	w.Number(uint64(t.Nanosecond()))
}

// Cursor reads what a Pen wrote. If the bytes are cut short or make no sense, Bad reports true from
// then on, and all methods give zero values.
type Cursor struct {
	data   []byte
	reader *Reader
	bad    bool
}

// Bad reports whether something could not be read.
func (r *Cursor) Bad() bool { return r.bad }

// Fail makes the cursor bad, because what was read makes no sense.
func (r *Cursor) Fail() { r.bad, r.data = true, nil }

// Number reads a number.
func (r *Cursor) Number() uint64 {
	if len(r.data) > 0 && r.data[0] < 0x80 { // nearly all numbers have one byte
		n := r.data[0]
		r.data = r.data[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.data = r.data[size:]
	return n
}

// Signed reads a number that may be below zero.
func (r *Cursor) Signed() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.data = r.data[size:]
	return n
}

// Raw reads `n` bytes. The caller must not change them.
func (r *Cursor) Raw(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.Fail()
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

// Text reads a string.
func (r *Cursor) Text() string { return string(r.Raw(r.Number())) }

// Interned reads a string that many records share.
func (r *Cursor) Interned() string {
	n := r.Number()
	if n > math.MaxUint32 {
		r.Fail()
		return ""
	}
	return r.reader.word(uint32(n))
}

// Time reads a time.
func (r *Cursor) Time() time.Time {
	seconds, nanos := r.Signed(), r.Number()
	return time.Unix(seconds, int64(nanos)).UTC()
}

// maxKnownWords bounds the strings that a reader remembers.
const maxKnownWords = 1 << 14

// Reader reads the records of an archive. It remembers strings, so that the values made from
// records share them. It is for one goroutine at a time.
type Reader struct {
	*Archive
	known []known // of several strings that have the same slot, the last one
}

// known is a string, and 1 + its number; the zero value is none.
type known struct {
	after uint32
	text  string
}

// NewReader is a reader of a.
func NewReader(a *Archive) *Reader { return &Reader{Archive: a} }

// Record reads the i-th record. Behind the last record it is empty.
func (r *Reader) Record(i uint32) Cursor { return Cursor{data: r.record(i), reader: r} }

// Remainder reads everything that is no record.
func (r *Reader) Remainder() Cursor { return Cursor{data: r.parts[partRest], reader: r} }

func (r *Reader) word(id uint32) string {
	if int64(id) >= int64(r.words()) {
		return ""
	}
	if r.known == nil {
		r.known = make([]known, min(r.words(), maxKnownWords))
	}
	k := &r.known[int(id)%len(r.known)]
	if k.after != id+1 {
		*k = known{id + 1, string(r.wordBytes(id))}
	}
	return k.text
}

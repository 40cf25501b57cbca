package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// HeaderBytes is how long the header of a pack is.
const HeaderBytes = 12

// Header is what a pack of so many objects begins with.
func Header(objects int) []byte {
	return binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(objects))
}

// Encode returns a pack of entries, which stand in body one behind the other, its name
// and its index.
func Encode(body []byte, entries []Placed) (pack []byte, name Hash, idx []byte) {
	parts, name, idx := EncodeParts(body, entries)
	return slices.Concat(parts[:]...), name, idx
}

// EncodeParts is Encode for a pack in parts, which stand one behind the other: the body is
// not copied.
func EncodeParts(body []byte, entries []Placed) (parts [3][]byte, name Hash, idx []byte) {
	head, sum := Header(len(entries)), sha1.New()
	sum.Write(head)
	sum.Write(body)
	sum.Sum(name[:0])
	return [...][]byte{head, body, name[:]}, name, EncodeIndex(entries, name)
}

// Writer writes entries of a pack, one behind the other. It compresses with a library of its
// own: that of Go takes six times as long for a message.
type Writer struct {
	out   *bytes.Buffer
	level int          // of compression, as zlib has them
	z     *zlib.Writer // nil before the first
}

// NewWriter writes behind what is there already, which it takes over, and compresses as
// fast as zlib can.
func NewWriter(body []byte) *Writer {
	return &Writer{out: bytes.NewBuffer(body), level: zlib.BestSpeed}
}

// Again has w write behind what is there already, as one that NewWriter made: its compressor
// takes most of a megabyte.
func (w *Writer) Again(body []byte) { w.out = bytes.NewBuffer(body) }

// NewWriterLevel is NewWriter with nothing there and a level of compression of zlib's.
func NewWriterLevel(level int) *Writer { return &Writer{out: new(bytes.Buffer), level: level} }

// Bytes is what is there and was written since Reset; it may be used until the next call.
func (w *Writer) Bytes() []byte { return w.out.Bytes() }

// Len is how many bytes Bytes has.
func (w *Writer) Len() int { return w.out.Len() }

// Reset forgets all that was written.
func (w *Writer) Reset() { w.out.Reset() }

// Whole writes an object as it is.
func (w *Writer) Whole(typ plumbing.ObjectType, data []byte) error {
	w.out.Write(entryHeader(typ, len(data)))
	return w.deflate(data)
}

// Delta writes what makes an object of the one that begins back bytes before.
func (w *Writer) Delta(back int64, delta []byte) error {
	w.out.Write(entryHeader(plumbing.OFSDeltaObject, len(delta)))
	w.out.Write(encodeBack(back))
	return w.deflate(delta)
}

// NamedDelta writes what makes an object of the one with that name.
func (w *Writer) NamedDelta(base Hash, delta []byte) error {
	w.out.Write(entryHeader(plumbing.REFDeltaObject, len(delta)))
	w.out.Write(base[:])
	return w.deflate(delta)
}

// Deflated writes a delta of so many bytes, which are compressed already, of the object
// that begins back bytes before.
func (w *Writer) Deflated(back, size int64, deflated []byte) {
	w.out.Write(entryHeader(plumbing.OFSDeltaObject, int(size)))
	w.out.Write(encodeBack(back))
	w.out.Write(deflated)
}

func (w *Writer) deflate(data []byte) error {
	if w.z == nil {
		var err error
		if w.z, err = zlib.NewWriterLevel(w.out, w.level); err != nil {
			return fmt.Errorf("cannot compress: %w", err)
		}
	} else {
		w.z.Reset(w.out)
	}
	if _, err := w.z.Write(data); err != nil {
		return fmt.Errorf("cannot compress: %w", err)
	}
	if err := w.z.Close(); err != nil {
		return fmt.Errorf("cannot compress: %w", err)
	}
	return nil
}

func entryHeader(typ plumbing.ObjectType, size int) []byte {
	c := byte(typ)<<4 | byte(size&15)
	size >>= 4
	var out []byte
	for size > 0 {
		out = append(out, c|0x80)
		c = byte(size & 0x7f)
		size >>= 7
	}
	return append(out, c)
}

// encodeBack is the reverse of ReadBack.
func encodeBack(n int64) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append(out, 0x80|byte(n&0x7f))
	}
	slices.Reverse(out)
	return out
}

// ReadHeader reads what an entry begins with: its type and how many bytes it inflates to.
func ReadHeader(in io.ByteReader) (plumbing.ObjectType, int64, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	typ := plumbing.ObjectType(c >> 4 & 7)
	size := int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil {
			return 0, 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		size |= int64(c&0x7f) << shift
		if shift > 50 {
			return 0, 0, fmt.Errorf("%w: the size of an object is none", ErrCorrupt)
		}
	}
	return typ, size, nil
}

// ReadBack reads how many bytes before an offset delta the entry begins that it is made
// of.
func ReadBack(in io.ByteReader) (int64, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	n := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = in.ReadByte(); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if n > 1<<48 {
			return 0, fmt.Errorf("%w: a delta's base lies outside the pack", ErrCorrupt)
		}
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, nil
}

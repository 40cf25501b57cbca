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

// HeaderBytes is how many bytes the header of a pack has.
const HeaderBytes = 12

// Header returns what a pack with so many objects begins with.
func Header(objects int) []byte {
	return binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(objects))
}

// Encode returns a pack with the given entries, its name and its index. The entries stand in body
// one behind the other.
func Encode(body []byte, entries []Placed) (pack []byte, name Hash, idx []byte) {
	parts, name, idx := EncodeParts(body, entries)
	return slices.Concat(parts[:]...), name, idx
}

// EncodeParts is Encode, except that it returns the pack in parts, which stand one behind the
// other. So the body is not copied.
func EncodeParts(body []byte, entries []Placed) (parts [3][]byte, name Hash, idx []byte) {
	head, sum := Header(len(entries)), sha1.New()
	sum.Write(head)
	sum.Write(body)
	sum.Sum(name[:0])
	return [...][]byte{head, body, name[:]}, name, EncodeIndex(entries, name)
}

// Writer writes entries of a pack, one behind the other. It does not use Go's own library for
// compression: that takes six times as long for a message.
type Writer struct {
	out   *bytes.Buffer
	level int          // of compression, as in zlib
	z     *zlib.Writer // nil before the first entry
}

// NewWriter returns a Writer that writes behind body, which it takes over. It compresses as fast as
// zlib can.
func NewWriter(body []byte) *Writer {
	return &Writer{out: bytes.NewBuffer(body), level: zlib.BestSpeed}
}

// Again makes w write behind body, like a Writer that NewWriter returns. w keeps its compressor,
// which takes most of a megabyte.
func (w *Writer) Again(body []byte) { w.out = bytes.NewBuffer(body) }

// NewWriterLevel returns a Writer with nothing written yet. It compresses with this level of zlib.
func NewWriterLevel(level int) *Writer { return &Writer{out: new(bytes.Buffer), level: level} }

// Bytes returns the bytes that were there already and those that were written. After a Reset, these
// are only the bytes that were written since. They may be used until the next call.
func (w *Writer) Bytes() []byte { return w.out.Bytes() }

// Len returns how many bytes Bytes has.
func (w *Writer) Len() int { return w.out.Len() }

// Reset forgets all that was written.
func (w *Writer) Reset() { w.out.Reset() }

// Whole writes an object as it is.
func (w *Writer) Whole(typ plumbing.ObjectType, data []byte) error {
	w.out.Write(entryHeader(typ, len(data)))
	return w.deflate(data)
}

// Delta writes the delta that makes an object of another one. The entry of the other one begins
// `back` bytes before.
func (w *Writer) Delta(back int64, delta []byte) error {
	w.out.Write(entryHeader(plumbing.OFSDeltaObject, len(delta)))
	w.out.Write(encodeBack(back))
	return w.deflate(delta)
}

// NamedDelta writes the delta that makes an object of the one with the name `base`.
func (w *Writer) NamedDelta(base Hash, delta []byte) error {
	w.out.Write(entryHeader(plumbing.REFDeltaObject, len(delta)))
	w.out.Write(base[:])
	return w.deflate(delta)
}

// Deflated writes a delta, as Delta does, that is compressed already. size is how many bytes it has
// when it is not compressed.
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

// encodeBack returns the bytes from which ReadBack reads n.
func encodeBack(n int64) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append(out, 0x80|byte(n&0x7f))
	}
	slices.Reverse(out)
	return out
}

// ReadHeader reads the beginning of an entry: its type, and how many bytes it inflates to.
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

// ReadBack reads what follows the header of an offset delta. It returns how many bytes before the
// entry of the delta the entry of its base begins.
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

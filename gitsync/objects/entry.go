package objects

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// entryWriter writes entries of a pack, one behind the other.
type entryWriter struct {
	out *bytes.Buffer
	z   *zlib.Writer // nil before the first
}

// newEntryWriter writes behind what is there already.
func newEntryWriter(body []byte) *entryWriter { return &entryWriter{out: bytes.NewBuffer(body)} }

// whole writes an object as it is.
func (w *entryWriter) whole(typ plumbing.ObjectType, data []byte) error {
	w.out.Write(entryHeader(typ, len(data)))
	return w.deflate(data)
}

// delta writes what makes an object of the one that begins back bytes before.
func (w *entryWriter) delta(back int64, delta []byte) error {
	w.out.Write(entryHeader(plumbing.OFSDeltaObject, len(delta)))
	w.out.Write(encodeBack(back))
	return w.deflate(delta)
}

// namedDelta writes what makes an object of the one with that name.
func (w *entryWriter) namedDelta(base Hash, delta []byte) error {
	w.out.Write(entryHeader(plumbing.REFDeltaObject, len(delta)))
	w.out.Write(base[:])
	return w.deflate(delta)
}

func (w *entryWriter) deflate(data []byte) error {
	if w.z == nil {
		var err error
		if w.z, err = zlib.NewWriterLevel(w.out, zlib.BestSpeed); err != nil {
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

// encodeBack is the reverse of readBack.
func encodeBack(n int64) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append(out, 0x80|byte(n&0x7f))
	}
	slices.Reverse(out)
	return out
}

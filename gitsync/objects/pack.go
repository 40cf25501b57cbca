package objects

import (
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxDeltaDepth ends chains of deltas: git itself writes 50, a cycle has no end.
const maxDeltaDepth = 4096

// readFunc reads an object by name, for deltas against another pack's object.
type readFunc func(Hash) (plumbing.ObjectType, []byte, error)

// read returns the object at offset; deltas are applied.
func (p *pack) read(offset int64, other readFunc) (plumbing.ObjectType, []byte, error) {
	f, err := os.Open(p.base + ".pack")
	if err != nil {
		return 0, nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	r := packReader{in: f, end: info.Size() - hashBytes, find: p.find, other: other}
	typ, data, err := r.object(offset)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read %s.pack at %d: %w", p.base, offset, err)
	}
	return typ, data, nil
}

// packReader reads objects of one open pack.
type packReader struct {
	in       io.ReaderAt
	end      int64 // where the trailer begins
	find     func(Hash) (int64, bool, error)
	other    readFunc
	inflater *inflater // used again for each entry; nil: one is made for each
	bases    *bases    // what was read before; nil: nothing is remembered
}

func (r packReader) object(offset int64) (plumbing.ObjectType, []byte, error) {
	var deltas [][]byte // from the object wanted towards its base
	for depth := 0; ; depth++ {
		if depth > maxDeltaDepth {
			return 0, nil, fmt.Errorf("%w: a chain of deltas does not end", errCorrupt)
		}
		if typ, data, ok := r.bases.get(offset); ok {
			data, err := applyDeltas(data, deltas)
			return typ, data, err
		}
		e, err := r.entry(offset)
		if err != nil {
			return 0, nil, err
		}
		switch e.typ {
		case plumbing.OFSDeltaObject:
			deltas = append(deltas, e.data)
			offset = e.base
			continue
		case plumbing.REFDeltaObject:
			deltas = append(deltas, e.data)
			if base, ok, err := r.find(e.baseName); err == nil && ok {
				offset = base
				continue
			}
			typ, data, err := r.other(e.baseName)
			if err != nil {
				return 0, nil, err
			}
			data, err = applyDeltas(data, deltas)
			return typ, data, err
		}
		data, err := applyDeltas(e.data, deltas)
		return e.typ, data, err
	}
}

// packEntry is one entry of a pack as it stands there.
type packEntry struct {
	typ      plumbing.ObjectType
	data     []byte
	base     int64 // of an offset delta
	baseName Hash  // of a reference delta
}

func (r packReader) entry(offset int64) (packEntry, error) {
	if offset < 12 || offset >= r.end {
		return packEntry{}, fmt.Errorf("%w: no entry can be at %d", errCorrupt, offset)
	}
	inflater := r.inflater
	if inflater == nil {
		inflater = newInflater()
	}
	in := inflater.at(io.NewSectionReader(r.in, offset, r.end-offset))
	typ, size, err := readEntryHeader(in)
	if err != nil {
		return packEntry{}, err
	}
	e := packEntry{typ: typ}
	switch typ {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		back, err := readBack(in)
		if err != nil {
			return e, err
		}
		if back <= 0 || back >= offset {
			return e, fmt.Errorf("%w: a delta's base lies outside the pack", errCorrupt)
		}
		e.base = offset - back
	case plumbing.REFDeltaObject:
		if _, err := io.ReadFull(in, e.baseName[:]); err != nil {
			return e, fmt.Errorf("%w: %w", errCorrupt, err)
		}
	default:
		return e, fmt.Errorf("%w: unknown type %d", errCorrupt, typ)
	}
	e.data, err = inflater.inflate(size)
	return e, err
}

func readEntryHeader(in io.ByteReader) (plumbing.ObjectType, int64, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	typ := plumbing.ObjectType(c >> 4 & 7)
	size := int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil {
			return 0, 0, fmt.Errorf("%w: %w", errCorrupt, err)
		}
		size |= int64(c&0x7f) << shift
		if shift > 50 {
			return 0, 0, fmt.Errorf("%w: the size of an object is none", errCorrupt)
		}
	}
	return typ, size, nil
}

func readBack(in io.ByteReader) (int64, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	n := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = in.ReadByte(); err != nil {
			return 0, fmt.Errorf("%w: %w", errCorrupt, err)
		}
		if n > 1<<48 {
			return 0, fmt.Errorf("%w: a delta's base lies outside the pack", errCorrupt)
		}
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, nil
}

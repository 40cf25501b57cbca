package pack

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxDeltaDepth bounds the length of chains of deltas. Git itself writes chains of 50. A cycle of
// deltas would have no end.
const maxDeltaDepth = 4096

// ReadFunc reads an object by its name. It is for deltas of an object that is in another pack.
type ReadFunc func(Hash) (plumbing.ObjectType, []byte, error)

// Read returns the object whose entry begins at offset. It applies deltas. other reads the bases
// that are not in this pack. The inflater is used for each entry. If it is nil, each entry gets its
// own. The error is a *LargeError if the object has more than most bytes.
func (p *Pack) Read(offset, most int64, other ReadFunc, inflater *Inflater) (plumbing.ObjectType, []byte, error) {
	f, err := os.Open(p.Base + ".pack")
	if err != nil {
		return 0, nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	r := Reader{In: f, End: info.Size() - HashBytes, Find: p.Find, Other: other, Inflater: inflater, Most: most}
	typ, data, err := r.Object(offset)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read %s.pack at %d: %w", p.Base, offset, err)
	}
	return typ, data, nil
}

// Reader reads objects of one open pack.
type Reader struct {
	In       io.ReaderAt
	End      int64                           // where the check sum of the pack begins
	Find     func(Hash) (int64, bool, error) // finds where an object begins in the pack
	Other    ReadFunc                        // reads an object that is not in the pack
	Inflater *Inflater                       // used for each entry. nil: each entry gets its own
	Bases    *Bases                          // objects that were read before. nil: nothing is remembered
	Most     int64                           // of how many bytes an object is returned at most. 0: MaxObject
}

// Object returns the object whose entry begins at offset. It applies deltas. The error is a
// *LargeError if the object is larger than Most. It is ErrCorrupt if the pack is damaged.
func (r Reader) Object(offset int64) (plumbing.ObjectType, []byte, error) {
	var deltas [][]byte // from the object wanted towards its base
	most := cmp.Or(r.Most, MaxObject)
	for depth := 0; ; depth++ {
		if depth > maxDeltaDepth {
			return 0, nil, fmt.Errorf("%w: a chain of deltas does not end", ErrCorrupt)
		}
		if typ, data, ok := r.Bases.get(offset); ok {
			data, err := applyDeltas(data, deltas)
			return typ, data, err
		}
		e, err := r.entry(offset, most)
		if err != nil {
			return 0, nil, err
		}
		if size := e.makes(); size > most {
			return 0, nil, &LargeError{size}
		}
		most = MaxObject // of a base
		switch e.typ {
		case plumbing.OFSDeltaObject:
			deltas = append(deltas, e.data)
			offset = e.base
			continue
		case plumbing.REFDeltaObject:
			deltas = append(deltas, e.data)
			if base, ok, err := r.Find(e.baseName); err == nil && ok {
				offset = base
				continue
			}
			typ, data, err := r.Other(e.baseName)
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

type packEntry struct {
	typ      plumbing.ObjectType
	data     []byte
	base     int64 // of an offset delta
	baseName Hash  // of a reference delta
}

// makes is how many bytes a delta says that its object has; 0 for what is no delta.
func (e packEntry) makes() int64 {
	if e.typ != plumbing.OFSDeltaObject && e.typ != plumbing.REFDeltaObject {
		return 0
	}
	_, n := binary.Uvarint(e.data)
	size, _ := binary.Uvarint(e.data[max(n, 0):])
	return int64(min(size, math.MaxInt64))
}

func (r Reader) entry(offset, most int64) (packEntry, error) {
	if offset < 12 || offset >= r.End {
		return packEntry{}, fmt.Errorf("%w: no entry can be at %d", ErrCorrupt, offset)
	}
	inflater := r.Inflater
	if inflater == nil {
		inflater = NewInflater()
	}
	in := inflater.at(io.NewSectionReader(r.In, offset, r.End-offset))
	typ, size, err := ReadHeader(in)
	if err != nil {
		return packEntry{}, err
	}
	e := packEntry{typ: typ}
	switch typ {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		back, err := ReadBack(in)
		if err != nil {
			return e, err
		}
		if back <= 0 || back >= offset {
			return e, fmt.Errorf("%w: a delta's base lies outside the pack", ErrCorrupt)
		}
		e.base = offset - back
	case plumbing.REFDeltaObject:
		if _, err := io.ReadFull(in, e.baseName[:]); err != nil {
			return e, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	default:
		return e, fmt.Errorf("%w: unknown type %d", ErrCorrupt, typ)
	}
	e.data, err = inflater.inflate(size, most)
	return e, err
}

// basesBytes bounds how many bytes are remembered of a pack that is read from its beginning.
const basesBytes = 8 << 20

// Bases remembers the objects of a pack that were read last, by the places where they begin. Other
// objects are often deltas of them.
type Bases struct {
	known map[int64]base
	order []int64
	size  int
}

type base struct {
	typ  plumbing.ObjectType
	data []byte
}

// NewBases returns Bases that remember nothing yet.
func NewBases() *Bases { return &Bases{known: map[int64]base{}} }

func (b *Bases) get(offset int64) (plumbing.ObjectType, []byte, bool) {
	if b == nil {
		return 0, nil, false
	}
	found, ok := b.known[offset]
	return found.typ, found.data, ok
}

// Put remembers an object. data must not be changed afterwards.
func (b *Bases) Put(offset int64, typ plumbing.ObjectType, data []byte) {
	if _, known := b.known[offset]; known || len(data) > basesBytes/4 {
		return
	}
	b.known[offset] = base{typ, data}
	b.order = append(b.order, offset)
	for b.size += len(data); b.size > basesBytes; b.order = b.order[1:] {
		b.size -= len(b.known[b.order[0]].data)
		delete(b.known, b.order[0])
	}
}

package pack

import "github.com/go-git/go-git/v5/plumbing"

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

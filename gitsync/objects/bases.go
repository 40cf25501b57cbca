package objects

import "github.com/go-git/go-git/v5/plumbing"

// basesBytes bounds what is remembered of a pack that is read from its beginning.
const basesBytes = 8 << 20

// bases are the objects of a pack that were read last, by where they begin: others are
// often deltas of them.
type bases struct {
	known map[int64]base
	order []int64
	size  int
}

type base struct {
	typ  plumbing.ObjectType
	data []byte
}

func newBases() *bases { return &bases{known: map[int64]base{}} }

func (b *bases) get(offset int64) (plumbing.ObjectType, []byte, bool) {
	if b == nil {
		return 0, nil, false
	}
	found, ok := b.known[offset]
	return found.typ, found.data, ok
}

func (b *bases) put(offset int64, typ plumbing.ObjectType, data []byte) {
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

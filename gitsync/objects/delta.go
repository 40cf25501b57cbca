package objects

import "encoding/binary"

const (
	// deltaLeast is how large a tree must be to be stored as a delta.
	deltaLeast = 200
	// deltaDepth bounds the chains of deltas that are written: the tree at the
	// end of one is read by applying them all.
	deltaDepth = 64
	copyMost   = 1 << 16 // bytes that one instruction copies, as git has it
	insertMost = 127     // bytes that one instruction inserts
)

// treeDelta is what git applies to the bytes of the tree old to get those of new:
// it copies what both have and inserts the rest. It takes the time of one walk
// through both, which are in git's order.
func treeDelta(old, new []Entry) []byte {
	d := deltaWriter{}
	d.out = binary.AppendUvarint(d.out, uint64(treeSize(old)))
	d.out = binary.AppendUvarint(d.out, uint64(treeSize(new)))
	at := 0 // where old[0] begins in the bytes of the old tree
	for _, e := range new {
		for len(old) > 0 && old[0] != e && compareEntries(old[0], e) < 0 {
			at += old[0].size()
			old = old[1:]
		}
		switch {
		case len(old) == 0 || old[0].Name != e.Name || old[0].Mode != e.Mode:
			d.insert(appendEntry(nil, e))
			continue
		case old[0].Hash == e.Hash:
			d.copy(at, e.size())
		default:
			d.copy(at, e.size()-hashBytes)
			d.insert(e.Hash[:])
		}
		at += e.size()
		old = old[1:]
	}
	d.flush()
	return d.out
}

// deltaWriter writes instructions, neighbours as one.
type deltaWriter struct {
	out      []byte
	from, n  int    // to be copied
	inserted []byte // to be inserted after that
}

func (d *deltaWriter) copy(from, n int) {
	if len(d.inserted) > 0 || d.from+d.n != from {
		d.flush()
	}
	if d.n == 0 {
		d.from = from
	}
	d.n += n
}

func (d *deltaWriter) insert(data []byte) { d.inserted = append(d.inserted, data...) }

func (d *deltaWriter) flush() {
	for d.n > 0 {
		n := min(d.n, copyMost)
		d.out = appendCopy(d.out, uint32(d.from), uint32(n))
		d.from += n
		d.n -= n
	}
	for rest := d.inserted; len(rest) > 0; {
		n := min(len(rest), insertMost)
		d.out = append(append(d.out, byte(n)), rest[:n]...)
		rest = rest[n:]
	}
	d.inserted = d.inserted[:0]
}

// appendCopy writes only those bytes of offset and size that are not zero; a size
// of zero means 64 KB.
func appendCopy(out []byte, from, n uint32) []byte {
	op := len(out)
	out = append(out, 0x80)
	for i := range 4 {
		if b := byte(from >> (8 * i)); b != 0 {
			out[op] |= 1 << i
			out = append(out, b)
		}
	}
	for i := range 2 {
		if b := byte(n >> (8 * i)); b != 0 {
			out[op] |= 0x10 << i
			out = append(out, b)
		}
	}
	return out
}

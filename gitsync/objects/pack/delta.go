package pack

import "encoding/binary"

const (
	copyMost   = 1 << 16 // bytes that one instruction copies at most, as in git
	insertMost = 127     // bytes that one instruction inserts at most
)

// Delta is instructions that make one object of another. Neighbouring instructions that continue
// each other are written as one.
type Delta struct {
	out      []byte
	from, n  int    // what is to be copied next
	inserted []byte // what is to be inserted after that
}

// NewDelta begins a delta that makes an object of `after` bytes of one of `before` bytes.
func NewDelta(before, after int) *Delta {
	return &Delta{out: binary.AppendUvarint(binary.AppendUvarint(nil, uint64(before)), uint64(after))}
}

// Copy appends n bytes of the other object, which begin at `from` there.
func (d *Delta) Copy(from, n int) {
	if len(d.inserted) > 0 || d.from+d.n != from {
		d.flush()
	}
	if d.n == 0 {
		d.from = from
	}
	d.n += n
}

// Insert appends data to what is made so far.
func (d *Delta) Insert(data []byte) { d.inserted = append(d.inserted, data...) }

// Bytes ends the delta and returns it.
func (d *Delta) Bytes() []byte {
	d.flush()
	return d.out
}

func (d *Delta) flush() {
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

// appendCopy appends an instruction to copy n bytes. It writes only the bytes of from and n that
// are not zero. A size of zero means 64 KB.
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

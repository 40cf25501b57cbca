package pack

import (
	"encoding/binary"
	"fmt"
	"math"
)

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

// applyDeltas makes an object of its base and returns it. It does not change the base. The delta
// that is applied first stands last in deltas.
func applyDeltas(base []byte, deltas [][]byte) ([]byte, error) {
	data, spare := base, []byte(nil)
	for i := len(deltas) - 1; i >= 0; i-- {
		next, err := patch(spare[:0], data, deltas[i])
		if err != nil {
			return nil, err
		}
		if i < len(deltas)-1 {
			spare = data
		}
		data = next
	}
	return data, nil
}

var errDelta = fmt.Errorf("%w: a delta does not fit its base", ErrCorrupt)

// patch makes an object of its base and one delta. It appends the object to out, which is empty,
// and returns that.
func patch(out, base, delta []byte) ([]byte, error) {
	size, n := binary.Uvarint(delta)
	if n <= 0 || size != uint64(len(base)) {
		return nil, errDelta
	}
	delta = delta[n:]
	size, n = binary.Uvarint(delta)
	switch {
	case n <= 0:
		return nil, errDelta
	case size > MaxObject:
		return nil, &LargeError{int64(min(size, math.MaxInt64))}
	}
	delta = delta[n:]
	// The size in the header is believed only as far as the lengths of base and delta bear it out.
	if want := min(size, uint64(len(base)+len(delta))); uint64(cap(out)) < want {
		out = make([]byte, 0, want+want/16)
	}
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var part []byte
		if op&0x80 != 0 {
			from, count, rest, ok := readCopy(op, delta)
			if !ok || from > len(base) || count > len(base)-from {
				return nil, errDelta
			}
			part, delta = base[from:from+count], rest
		} else {
			if op == 0 || int(op) > len(delta) {
				return nil, errDelta
			}
			part, delta = delta[:op], delta[op:]
		}
		if len(out)+len(part) > int(size) {
			return nil, errDelta
		}
		out = append(out, part...)
	}
	if len(out) != int(size) {
		return nil, errDelta
	}
	return out, nil
}

// readCopy reads what appendCopy writes. Sizes may also have three bytes.
func readCopy(op byte, delta []byte) (from, n int, rest []byte, ok bool) {
	for i := range 7 {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return 0, 0, nil, false
		}
		if i < 4 {
			from |= int(delta[0]) << (8 * i)
		} else {
			n |= int(delta[0]) << (8 * (i - 4))
		}
		delta = delta[1:]
	}
	if n == 0 {
		n = copyMost
	}
	return from, n, delta, true
}

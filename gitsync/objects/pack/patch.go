package pack

import (
	"encoding/binary"
	"fmt"
	"math"
)

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

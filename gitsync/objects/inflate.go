package objects

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
)

// inflater reads what zlib has compressed, one piece after the other, with the same
// buffers: making them anew for each takes longer than reading a small object.
type inflater struct {
	in *bufio.Reader
	z  io.ReadCloser // nil before the first
}

func newInflater() *inflater { return &inflater{in: bufio.NewReader(nil)} }

// at begins to read elsewhere.
func (i *inflater) at(in io.Reader) *bufio.Reader {
	i.in.Reset(in)
	return i.in
}

// believedSize is what an object's header may claim without more ado.
const believedSize = 1 << 20

// inflate reads exactly size bytes and the check sum behind them, or says with a
// *LargeError that these are too many.
func (i *inflater) inflate(size int64) ([]byte, error) {
	var err error
	if i.z == nil {
		i.z, err = zlib.NewReader(i.in)
	} else {
		err = i.z.(zlib.Resetter).Reset(i.in, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if size > maxObject {
		return nil, passLarge(i.z, size)
	}
	if size > believedSize {
		return inflateMany(i.z, size)
	}
	data := make([]byte, size)
	if n, err := io.ReadFull(i.z, data); err != nil {
		return nil, fmt.Errorf("%w: %d of the %d bytes that an object's header says: %w", errCorrupt, n, size, err)
	}
	var more [1]byte
	switch _, err := io.ReadFull(i.z, more[:]); {
	case err == nil:
		return nil, fmt.Errorf("%w: an object has more than the %d bytes that its header says", errCorrupt, size)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	return data, nil
}

// inflateMany is inflate for a size that may be a lie.
func inflateMany(z io.Reader, size int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(believedSize + bytes.MinRead)
	n, err := data.ReadFrom(io.LimitReader(z, size+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if n != size {
		return nil, fmt.Errorf("%w: an object has %d bytes where its header says %d", errCorrupt, n, size)
	}
	return data.Bytes(), nil
}

// inflate reads one object from in; see inflater.
func inflate(in io.Reader, size int64) ([]byte, error) {
	i := newInflater()
	i.at(in)
	return i.inflate(size)
}

package pack

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
)

// Inflater reads what zlib has compressed, one piece after the other, with the same buffers. To
// make new buffers for each piece takes longer than to read a small object.
type Inflater struct {
	in *bufio.Reader
	z  io.ReadCloser // nil before the first piece
}

// NewInflater returns an Inflater that has read nothing yet.
func NewInflater() *Inflater { return &Inflater{in: bufio.NewReader(nil)} }

func (i *Inflater) at(in io.Reader) *bufio.Reader {
	i.in.Reset(in)
	return i.in
}

// believedSize is the largest size in an object's header for which memory is taken at once.
const believedSize = 1 << 20

// inflate reads exactly size bytes and the check sum behind them. The error is a *LargeError if
// these are more than most.
func (i *Inflater) inflate(size, most int64) ([]byte, error) {
	var err error
	if i.z == nil {
		i.z, err = zlib.NewReader(i.in)
	} else {
		err = i.z.(zlib.Resetter).Reset(i.in, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if size > most {
		return nil, PassLarge(i.z, size, most)
	}
	if size > believedSize {
		return inflateMany(i.z, size)
	}
	data := make([]byte, size)
	if n, err := io.ReadFull(i.z, data); err != nil {
		return nil, fmt.Errorf("%w: %d of the %d bytes that an object's header says: %w", ErrCorrupt, n, size, err)
	}
	var more [1]byte
	switch _, err := io.ReadFull(i.z, more[:]); {
	case err == nil:
		return nil, fmt.Errorf("%w: an object has more than the %d bytes that its header says", ErrCorrupt, size)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return data, nil
}

// inflateMany is inflate for a large size, which may be wrong.
func inflateMany(z io.Reader, size int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(believedSize + bytes.MinRead)
	n, err := data.ReadFrom(io.LimitReader(z, size+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if n != size {
		return nil, fmt.Errorf("%w: an object has %d bytes where its header says %d", ErrCorrupt, n, size)
	}
	return data.Bytes(), nil
}

// Inflate reads one object of that size from in. The error is a *LargeError if the object is too
// large to be held.
func Inflate(in io.Reader, size int64) ([]byte, error) {
	i := NewInflater()
	i.at(in)
	return i.inflate(size, MaxObject)
}

// MaxObject bounds how many bytes one object may inflate to. A message's file is small, and the
// tree of a day with a million messages has 60 MB.
const MaxObject = 256 << 20

// maxPassed bounds how many bytes are read of an object that is too large to be held.
const maxPassed = 1 << 30

// LargeError says that an object is too large to be held in memory. That is no damage, because
// anybody who may push can put such an object into the record.
type LargeError struct{ Size int64 }

// Error gives the size of the object and the largest size that is read.
func (e *LargeError) Error() string {
	return fmt.Sprintf("it has %d bytes, and an object of more than %d is not read", e.Size, MaxObject)
}

// IsLarge reports whether an error is a *LargeError.
func IsLarge(err error) bool { return errors.As(err, new(*LargeError)) }

// PassLarge reads an object that is said to have size bytes, more than most, and does not hold it.
// The error is a *LargeError if the object has so many, as far as the first bytes and the check sum
// show. Otherwise a damaged header would make a small object count as too large.
func PassLarge(in io.Reader, size, most int64) error {
	passed := int64(maxPassed)
	if most < MaxObject { // somebody may have pushed very many of these
		passed = most + 1
	}
	n, err := io.Copy(io.Discard, io.LimitReader(in, min(size+1, passed)))
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case n != size && n != passed:
		return fmt.Errorf("%w: an object has %d bytes where its header says %d", ErrCorrupt, n, size)
	}
	return &LargeError{size}
}

package pack

import (
	"errors"
	"fmt"
	"io"
)

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

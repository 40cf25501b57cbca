package pack

import (
	"errors"
	"fmt"
	"io"
)

// MaxObject bounds what one object may inflate to: a message file is small, and
// a tree of a day that holds a million messages is 60 MB.
const MaxObject = 256 << 20

// maxPassed bounds what is read of an object that is too large to be held.
const maxPassed = 1 << 30

// LargeError says that an object is larger than what is held of one, which is no damage:
// anybody who may push can put one into the record.
type LargeError struct{ Size int64 }

// Error gives both sizes.
func (e *LargeError) Error() string {
	return fmt.Sprintf("it has %d bytes, and an object of more than %d is not read", e.Size, MaxObject)
}

// IsLarge reports whether an error is a *LargeError.
func IsLarge(err error) bool { return errors.As(err, new(*LargeError)) }

// PassLarge reads an object that is said to have so many bytes without holding it. The
// error is a *LargeError if it has, as far as maxPassed and its check sum show: a header
// that is damaged must not make a small object one that is too large.
func PassLarge(in io.Reader, size int64) error {
	most := min(size+1, maxPassed)
	n, err := io.Copy(io.Discard, io.LimitReader(in, most))
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case n != size && n != maxPassed:
		return fmt.Errorf("%w: an object has %d bytes where its header says %d", ErrCorrupt, n, size)
	}
	return &LargeError{size}
}

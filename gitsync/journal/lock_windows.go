package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file, or says ErrInUse. It locks bytes behind the content, so that others can
// read the content.
func tryLock(f *os.File) error {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrInUse
	}
	return err
}

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A process that has just ended may leave its lock for a moment to a child process that is about to
// become another program.
const (
	lockWithin = time.Second
	lockRetry  = 20 * time.Millisecond
)

const lockName = "lock"

// ErrInUse says that another process has the lock.
var ErrInUse = errors.New("the record is in use by another process")

// Lock takes the lock in a folder. It says that this process uses the journal there, and the record
// to which the journal belongs, and notes which process this is. The system releases the lock when the
// process ends, in whatever way. ErrInUse names the process that has the lock.
func Lock(dir string) (unlock func() error, err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the record: %w", err)
	}
	err = tryLock(f)
	for deadline := time.Now().Add(lockWithin); errors.Is(err, ErrInUse) && time.Now().Before(deadline); err = tryLock(f) {
		time.Sleep(lockRetry)
	}
	if err != nil {
		if holder, readErr := os.ReadFile(path); readErr == nil && len(holder) > 0 && errors.Is(err, ErrInUse) {
			err = fmt.Errorf("%w, number %s", err, strings.TrimSpace(string(holder)))
		}
		return nil, errors.Join(err, f.Close())
	}
	// The note is for people. The lock holds without it, such as on a full disk.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	return f.Close, nil
}

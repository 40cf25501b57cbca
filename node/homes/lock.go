package homes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/parleyfleet/parley/configs"
)

// ErrLocked says that another node runs on the same home.
var ErrLocked = errors.New("another node runs on this home")

// A node that has just stopped may hold its lock a moment longer than its socket.
const (
	lockWithin = time.Second
	lockRetry  = 20 * time.Millisecond
)

// TakeLock makes sure that at most one node runs on a home.
func TakeLock(home configs.Home) (*flock.Flock, error) {
	lock := flock.New(home.Lock(), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	ok, err := lock.TryLockContext(ctx, lockRetry)
	switch {
	case !ok && ctx.Err() != nil:
		if holder, err := os.ReadFile(home.Lock()); err == nil && len(holder) > 0 {
			return nil, fmt.Errorf("cannot use the home %s: %w, process %s", home.Dir, ErrLocked, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("cannot use the home %s: %w", home.Dir, ErrLocked)
	case err != nil:
		return nil, fmt.Errorf("cannot lock the home %s: %w", home.Dir, err)
	}
	// The number of the process is a note for people. The lock holds without it.
	_ = os.WriteFile(home.Lock(), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return lock, nil
}

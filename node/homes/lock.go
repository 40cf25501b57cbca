package homes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
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

// Standing knows which folders a home consists of, while a node runs on it.
type Standing struct {
	home configs.Home
	are  []standingOn
}

type standingOn struct {
	dir string
	is  fs.FileInfo
}

// StandOn looks which folders a home consists of. A journal or record that is not there yet is not
// watched.
func StandOn(home configs.Home) (Standing, error) {
	s := Standing{home: home}
	for _, dir := range []string{home.Dir, home.Journal(), home.Record()} {
		is, err := os.Stat(dir)
		switch {
		case err == nil:
			s.are = append(s.are, standingOn{dir, is})
		case dir == home.Dir || !errors.Is(err, fs.ErrNotExist):
			return s, err
		}
	}
	return s, nil
}

// Check returns an error if the home was removed or moved away, if another folder is in its place,
// or if that is so of its journal or record: rm leaves a folder in which the node has just made a
// file. Then nothing may be written any more: it would bring back what somebody removed, or go into
// a home of another node, or be acknowledged and nowhere.
func (s Standing) Check() error {
	for _, was := range s.are {
		now, err := os.Stat(was.dir)
		why := "another folder is in its place"
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			why = "it was removed or moved"
		case err != nil, os.SameFile(was.is, now):
			continue // the disk may only be slow to answer
		}
		hint := "begin anew: parley init"
		if _, err := os.Stat(s.home.Dir); err == nil && was.dir != s.home.Dir {
			why, hint = "its "+filepath.Base(was.dir)+": "+why, "start it with what is left: parley up -d"
		}
		return control.Errorf(control.KindFailed, "bring it back from where it is now and start the node again, or "+hint,
			"the home %s of this node is gone: %s; nothing was written since, and what it had not pushed or told another host is only there", s.home.Dir, why)
	}
	return nil
}

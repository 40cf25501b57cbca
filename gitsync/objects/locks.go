package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	lockPatience = time.Second
	lockPause    = 5 * time.Millisecond
	// lockAge is how long a ref's lock may stand unchanged before it counts as left behind. Git
	// itself waits 100 ms for such a lock.
	lockAge = 250 * time.Millisecond
	// forgottenAge is how long a lock that any program may hold must stand before it counts as left
	// behind. Git holds such locks for milliseconds.
	forgottenAge = time.Minute
)

// takeLock makes a lock file of git. It waits a little for another program's lock. It removes a
// lock that a killed program left long ago. It also removes a lock that this program could not
// remove earlier, when the disk took no change.
func (r *Refs) takeLock(path string) (*os.File, error) {
	deadline := time.Now().Add(lockPatience)
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot take git's lock: %w", err)
		}
		info, statErr := os.Stat(path)
		if statErr == nil && (r.isStuck(path) || time.Since(info.ModTime()) > forgottenAge) {
			if err := r.dropLock(path); err != nil {
				return nil, fmt.Errorf("cannot remove a stale lock: %w", err)
			}
			r.log.Warn().Msg("removed the stale lock " + below(r.dir, path))
			continue
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another program holds git's lock %s: %w", below(r.dir, path), err)
		}
		time.Sleep(lockPause)
	}
}

// dropLock removes a lock of this program. If that fails, it remembers that the lock is one of this
// program.
func (r *Refs) dropLock(path string) error {
	err := removeFile(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.stuck = append(r.stuck, path)
	} else {
		r.stuck = slices.DeleteFunc(r.stuck, func(other string) bool { return other == path })
	}
	return err
}

func (r *Refs) isStuck(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.stuck, path)
}

func (r *Refs) removeLocks(refs []string) ([]string, error) {
	var did []string
	for _, ref := range refs {
		removed, err := r.RemoveStaleLock(ref)
		if err != nil {
			return did, err
		}
		if removed {
			did = append(did, "removed the stale lock of "+ref)
		}
	}
	return did, nil
}

// RemoveStaleLock removes the lock of a ref if the lock stands unchanged for lockAge, which is much
// longer than anybody needs one. It is for a lock that a killed program may have left.
func (r *Refs) RemoveStaleLock(ref string) (removed bool, err error) {
	path := filepath.Join(r.dir, filepath.FromSlash(ref)+".lock")
	before, err := os.Stat(path)
	if err != nil {
		return false, nil
	}
	deadline := time.Now().Add(lockAge)
	for time.Now().Before(deadline) {
		time.Sleep(lockPause)
		if now, err := os.Stat(path); err != nil || !os.SameFile(before, now) {
			return false, nil
		}
	}
	return true, removeFile(path)
}

// RemoveForgottenLocks removes locks of the repository that a killed program left a minute ago or
// earlier. They are the locks of HEAD, packed-refs, config and the like, and of any ref. gc.pid, the
// note of a gc, stays: a gc may run for longer, and git itself takes no notice of one that has ended.
func (r *Refs) RemoveForgottenLocks() ([]string, error) {
	var did []string
	check := func(path string, d fs.DirEntry) error {
		if !strings.HasSuffix(path, ".lock") {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < forgottenAge {
			return nil
		}
		rel, err := filepath.Rel(r.dir, path)
		if err == nil {
			err = removeFile(path)
		}
		if err == nil {
			did = append(did, "removed the stale lock "+filepath.ToSlash(rel))
		}
		return err
	}
	for _, dir := range []struct {
		name string
		deep bool
	}{{"", false}, {"objects/info", true}, {"refs", true}} {
		if err := eachFile(filepath.Join(r.dir, filepath.FromSlash(dir.name)), dir.deep, check); err != nil {
			return did, fmt.Errorf("cannot remove stale locks: %w", err)
		}
	}
	return did, nil
}

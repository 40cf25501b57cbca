package objects

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// lockAge is how long a ref's lock may stand unchanged before it counts as
	// left behind; git itself waits 100 ms for one.
	lockAge = 250 * time.Millisecond
	// tempAge is how old an unfinished file of the git program must be before
	// it counts as left behind.
	tempAge = time.Hour
)

// Repair puts right what a crash or a failing disk leaves behind: locks, temporary
// files, loose objects without content, damaged and missing indexes, indexes
// without a pack, replaced packs, refs without content, lines of packed-refs that
// nobody can read. refs are those that only this program moves. Call it before
// anything else of this program uses the repository. It returns what it did, a
// sentence each.
func (s *Store) Repair(refs ...string) ([]string, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	var did []string
	for _, step := range []func() ([]string, error){
		func() ([]string, error) { return s.removeLocks(refs) },
		s.RemoveForgottenLocks,
		s.removeTemps,
		s.forgetGitKeeps,
		s.removeEmptyObjects,
		s.finishJoins, // before packs that are half gone get an index again
		s.removeBadIndexes,
		s.indexPacks,
		s.finishJoins,
		s.removeReplaced,
		s.dropStaleMultiIndex,
		s.repairHead,
		s.repairPackedRefs,
		s.removeEmptyRefs,
	} {
		done, err := step()
		did = append(did, done...)
		if err != nil {
			return did, fmt.Errorf("cannot repair the record: %w", err)
		}
	}
	return did, s.rescan()
}

// RepairPacks does for packs and their indexes what Repair does, while this program
// uses the repository. It returns what it did, a sentence each.
func (s *Store) RepairPacks() ([]string, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	did, err := s.removeBadIndexes()
	if err == nil {
		var more []string
		more, err = s.indexPacks()
		did = append(did, more...)
	}
	if err != nil {
		return did, fmt.Errorf("cannot repair the packs: %w", err)
	}
	return did, s.rescan()
}

func (s *Store) removeLocks(refs []string) ([]string, error) {
	var did []string
	for _, ref := range refs {
		removed, err := s.RemoveStaleLock(ref)
		if err != nil {
			return did, err
		}
		if removed {
			did = append(did, "removed the stale lock of "+ref)
		}
	}
	return did, nil
}

// RemoveStaleLock removes the lock of a ref if it stands for a while unchanged,
// much longer than anybody needs one. It is for a lock that a killed program may
// have left.
func (s *Store) RemoveStaleLock(ref string) (removed bool, err error) {
	path := filepath.Join(s.dir, filepath.FromSlash(ref)+".lock")
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

package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/internal/failpoint"
)

const (
	keepText = "parley: the rolling pack, see gitsync/objects\n"
	// retireAfter is how long a replaced pack stays for programs that have
	// begun to read it.
	retireAfter = 5 * time.Second
	// tempPrefix begins the names of files that are not whole yet.
	tempPrefix = "tmp_parley_"
)

// retired is a pack whose objects are all in a newer one, or with full the last of
// a row of such packs, which stays and loses its .keep.
type retired struct {
	base  string
	since time.Time
	full  bool
}

// Install writes the objects of b into the rolling pack and makes it durable;
// after that, and only then, a ref may name them.
//
// The pack gets its .keep first, so no gc ever sees it without: a "git gc
// --prune=now" between Install and the move of the ref cannot drop the new
// objects. The pack that it replaces is removed seconds later. Once it is full,
// the next Install begins another; the full one loses its .keep after those that
// it replaced are gone, and by then a ref names what it holds. Were it to lose it
// earlier, a gc could leave out what the replaced ones hold, remove the full one,
// and the rest would go with the replaced.
func (s *Store) Install(b *Builder) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.rolling != nil && s.rolling.full() {
		s.retired = append(s.retired, retired{base: s.rolling.base, since: time.Now(), full: true})
		s.rolling = nil
	}
	old := s.rolling
	if old == nil {
		old = &rolling{}
	}
	next, err := old.with(b)
	if err != nil {
		return err
	}
	if len(next.entries) == len(old.entries) {
		return nil
	}
	pack, name, idx := next.encode()
	next.base = filepath.Join(s.packDir(), "pack-"+name.String())
	if err := s.place(next.base, pack, idx); err != nil {
		return fmt.Errorf("cannot install a pack: %w", err)
	}
	failpoint.Hit(failpoint.PackSynced)
	if err := s.addPack(next.base); err != nil {
		return fmt.Errorf("cannot install a pack: %w", err)
	}
	if old.base != "" {
		s.retired = append(s.retired, retired{base: old.base, since: time.Now()})
	}
	s.rolling = next
	return s.removeRetired(time.Now().Add(-retireAfter))
}

// place puts the three files of a pack there and syncs the folder. The .keep goes
// first, because "git repack -d" decides by the .pack and the .keep what to remove
// at its end; the .idx last, because it makes the pack readable.
func (s *Store) place(base string, pack, idx []byte) error {
	for _, file := range []struct {
		name string
		data []byte
	}{{base + ".keep", []byte(keepText)}, {base + ".pack", pack}, {base + ".idx", idx}} {
		if err := writeAtomically(file.name, file.data); err != nil {
			return err
		}
		failpoint.Hit(failpoint.PackPlacing)
	}
	failpoint.Hit(failpoint.PackPlaced)
	return syncDir(s.packDir())
}

// WriteFile replaces a file at once and makes it durable.
func WriteFile(path string, data []byte) error {
	if err := writeAtomically(path, data); err != nil {
		return err
	}
	failpoint.Hit(failpoint.FilePlaced)
	return syncDir(filepath.Dir(path))
}

// RenameDir gives a folder its place beside, for good.
func RenameDir(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("cannot put %s in place: %w", filepath.Base(to), err)
	}
	return syncDir(filepath.Dir(to))
}

// writeAtomically writes a file beside its place, syncs it and moves it there.
// The folder is not synced.
func writeAtomically(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return fmt.Errorf("cannot create a file: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		failpoint.Hit(failpoint.FileWritten)
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write %s: %w", filepath.Base(path), err), os.Remove(f.Name()))
	}
	return nil
}

// Seal removes the replaced packs and ends the rolling one, so that the operator's
// gc may take it. Call it when a ref names all that was installed.
func (s *Store) Seal() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for len(s.retired) > 0 {
		if err := s.removeFirst(); err != nil {
			return err
		}
	}
	if s.rolling == nil {
		return nil
	}
	if err := unkeep(s.rolling.base); err != nil {
		return err
	}
	s.rolling = nil
	return nil
}

func unkeep(base string) error {
	if err := removeFile(base + ".keep"); err != nil {
		return fmt.Errorf("cannot give a pack to the operator's gc: %w", err)
	}
	return nil
}

// Retire removes replaced packs that nobody can be reading any more.
func (s *Store) Retire() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.removeRetired(time.Now().Add(-retireAfter))
}

// removeRetired removes what was replaced before that time, once the oldest has
// stood twice as long: many at a moment instead of one at every commit, because
// a program that has just listed the packs may complain about one that goes.
func (s *Store) removeRetired(before time.Time) error {
	if len(s.retired) == 0 || s.retired[0].since.After(before.Add(-retireAfter)) {
		return nil
	}
	for len(s.retired) > 0 && s.retired[0].since.Before(before) {
		if err := s.removeFirst(); err != nil {
			return err
		}
	}
	return nil
}

// removeFirst removes the pack that was retired first or, if that is a full one,
// its .keep.
func (s *Store) removeFirst() error {
	first := s.retired[0]
	if first.full {
		if err := unkeep(first.base); err != nil {
			return err
		}
		failpoint.Hit(failpoint.PackUnkept)
	} else {
		if err := removePack(first.base); err != nil {
			return err
		}
		s.dropPack(first.base)
	}
	s.retired = s.retired[1:]
	return nil
}

// removePack removes a pack whose objects are all elsewhere: the .idx first, so
// that nobody opens what is about to go, the .keep last, so that a crash leaves
// something that Repair recognises as ours.
func removePack(base string) error {
	for _, ending := range []string{".idx", ".pack", ".keep"} {
		if err := removeFile(base + ending); err != nil {
			return fmt.Errorf("cannot remove a replaced pack: %w", err)
		}
		failpoint.Hit(failpoint.PackRemoving)
	}
	return nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove %s: %w", filepath.Base(path), err)
	}
	return nil
}

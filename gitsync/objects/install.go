package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
)

const (
	keepText = "parley: the rolling pack, see gitsync/objects\n"
	// tempPrefix begins the names of files that are not whole yet.
	tempPrefix = "tmp_parley_"
)

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
	if s.rolling != nil && s.rolling.full() && !s.mustWait() {
		s.retired = append(s.retired, retired{base: s.rolling.base, since: time.Now(), stays: true})
		s.rolling = nil
		s.sealed++
		s.tend()
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
	data, name, idx := pack.Encode(next.body, next.entries)
	next.base = filepath.Join(s.packDir(), "pack-"+name.String())
	if err := s.place(next.base, data, idx); err != nil {
		return fmt.Errorf("cannot install a pack: %w", err)
	}
	s.kept[next.base] = true
	failpoint.Hit(failpoint.PackSynced)
	if err := s.addPack(next.base); err != nil {
		return fmt.Errorf("cannot install a pack: %w", err)
	}
	if old.base != "" {
		s.replace(old.base)
		s.retired = append(s.retired, retired{base: old.base, since: time.Now()})
	}
	s.rolling = next
	return s.removeRetired(time.Now().Add(-retireAfter))
}

// place puts the three files of a pack there and syncs the folder. What cannot be
// finished is taken away again.
func (s *Store) place(base string, pack, idx []byte) error {
	_, known := os.Stat(base + ".idx")
	err := s.placeFiles(base, pack, idx)
	if err == nil || known == nil {
		return err
	}
	for _, ending := range []string{".idx", ".pack", ".keep"} {
		err = errors.Join(err, removeFile(base+ending))
	}
	return err
}

// placeFiles writes the .keep first, because "git repack -d" decides by the .pack
// and the .keep what to remove at its end; the .idx last, because it makes the pack
// readable.
func (s *Store) placeFiles(base string, pack, idx []byte) error {
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
	return durable.Folder(s.packDir())
}

// WriteFile replaces a file at once and makes it durable.
func WriteFile(path string, data []byte) error {
	if err := writeAtomically(path, data); err != nil {
		return err
	}
	failpoint.Hit(failpoint.FilePlaced)
	return durable.Folder(filepath.Dir(path))
}

// RenameDir gives a folder its place beside, for good.
func RenameDir(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("cannot put %s in place: %w", filepath.Base(to), err)
	}
	return durable.Folder(filepath.Dir(to))
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

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove %s: %w", filepath.Base(path), err)
	}
	return nil
}

package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// tempPrefix begins the names of files that are not whole yet.
const tempPrefix = "tmp_parley_"

// WriteFile replaces a file in one step and makes it durable.
func WriteFile(path string, data []byte) error {
	if err := writeAtomically(path, data); err != nil {
		return err
	}
	failpoint.Hit(failpoint.FilePlaced)
	return durable.Folder(filepath.Dir(path))
}

// RenameDir moves a folder to a place beside its old one, and makes that durable.
func RenameDir(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("cannot put %s in place: %w", filepath.Base(to), err)
	}
	return durable.Folder(filepath.Dir(to))
}

// writeAtomically writes a temporary file beside path, syncs it and moves it to path. The parts of
// data stand one behind the other in the file. The folder is not synced.
func writeAtomically(path string, data ...[]byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return fmt.Errorf("cannot create a file: %w", err)
	}
	for _, part := range data {
		if err == nil {
			_, err = f.Write(part)
		}
	}
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

// eachFile calls visit for each file in a folder and, if deep is set, in the folders below it.
// Files that vanish meanwhile are passed over.
func eachFile(root string, deep bool, visit func(path string, d fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && path != root && !deep:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return visit(path, d)
	})
}

// Shaken says what was removed or damaged behind the store's back since Settle. It returns "" if
// nothing was. Before anything is given up because it is in this store, Shaken is asked whether the
// files are still those that are known. It looks at the packs and at the folders of loose objects,
// and reads no object. That costs one look at the names of some files, however large the record is.
func (s *Store) Shaken() (string, error) {
	if err := s.packs.look(); err != nil {
		return "", err
	}
	gone, err := s.loose.look()
	for _, h := range gone {
		if ok, short := s.packs.has(h); !ok && short == nil && !s.loose.has(h) {
			s.packs.shake("the loose object %s is gone", h)
		}
	}
	return s.packs.lost(), err
}

// Settle makes Shaken forget what it has seen. Call it after a look at all that is needed, when all
// of it is there or its loss is noted.
func (s *Store) Settle() { s.packs.settle() }

// Fresh reads a commit and its tree from the files, even if both are remembered.
func (s *Store) Fresh(commit Hash) error {
	_, data, err := s.readOnce(commit)
	if err != nil {
		return fmt.Errorf("cannot read commit %s: %w", commit, err)
	}
	c, err := decodeCommit(data)
	if err == nil && c.Tree != emptyTree {
		_, _, err = s.readOnce(c.Tree)
	}
	if err != nil {
		return fmt.Errorf("cannot read the tree of commit %s: %w", commit, err)
	}
	return nil
}

// Has reports whether an object is in a pack that is there to its end, or in a file of its own. It
// does not read the object.
func (s *Store) Has(h Hash) bool {
	ok, _ := s.packs.has(h)
	return ok || s.loose.has(h)
}

// WholePacks returns the names and sizes of the packs that are there to their end.
func (s *Store) WholePacks() map[string]int64 {
	all := map[string]int64{}
	for _, p := range s.packs.all() {
		if p.Whole {
			all[filepath.Base(p.Base)] = p.Size()
		}
	}
	return all
}

// Inventory returns a text that changes when a pack or a loose object comes, goes or is replaced. A
// git program at work moves objects between files. So an object that a look does not find is
// missing only if the text was the same before and after the look.
func (s *Store) Inventory() string {
	var text strings.Builder
	for _, folder := range []string{filepath.Join(s.dir, "objects"), string(s.folder)} {
		entries, _ := os.ReadDir(folder) // a folder that cannot be read counts as empty
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				fmt.Fprintf(&text, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return text.String()
}

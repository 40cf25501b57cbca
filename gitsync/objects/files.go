package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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

package configs

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
)

// isTemp reports whether that is the name of a half-written file, which readers pass over.
func isTemp(name string) bool { return strings.HasPrefix(name, durable.TempPrefix) }

// writeAtomic puts data at path so that after a crash either the old file or
// the new one is there, whole. The file has mode 0600.
func writeAtomic(path string, data []byte) error {
	return durable.WriteFile(path, data, privateFile)
}

// moveToNew moves from to a path that no file had, keeping both folders on disk
// as the move left them. It returns an error that matches fs.ErrExist where the
// path is taken.
func moveToNew(from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, privateFile)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		os.Remove(to) // ours, and empty
		return err
	}
	if err := durable.Folder(filepath.Dir(to)); err != nil {
		return err
	}
	return durable.Folder(filepath.Dir(from))
}

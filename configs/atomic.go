package configs

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
)

// tempPrefix begins the names of half-written files, which readers pass over.
const tempPrefix = ".parley-tmp-"

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// writeAtomic puts data at path so that after a crash either the old file or
// the new one is there, whole. The file has mode 0600.
func writeAtomic(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, tempPrefix+"*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is there any more once it was renamed
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return durable.Folder(dir)
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

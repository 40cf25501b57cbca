package durable

import (
	"io/fs"
	"os"
	"path/filepath"
)

// TempPrefix begins the names of half-written files.
const TempPrefix = ".parley-tmp-"

// WriteFile puts `data` into the file at `path`. After a crash, either the old file or the new one
// is there, whole. A reader sees one of the two at any moment.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, TempPrefix+"*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename, there is nothing left to remove
	_, err = f.Write(data)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
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
	return Folder(dir)
}

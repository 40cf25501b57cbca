package configs

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
)

// isTemp reports whether that is the name of an unfinished file. Readers pass over such files.
func isTemp(name string) bool { return strings.HasPrefix(name, durable.TempPrefix) }

// writeAtomic puts `data` at `path`. After a crash, either the old file or the new one is there,
// complete. The file has mode 0600.
func writeAtomic(path string, data []byte) error {
	return durable.WriteFile(path, data, privateFile)
}

// moveToNew moves `from` to a path that no file had, and makes the change of both folders durable.
// The error matches fs.ErrExist if the path is taken.
func moveToNew(from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, privateFile)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		os.Remove(to) // the file that this function made, which is empty
		return err
	}
	if err := durable.Folder(filepath.Dir(to)); err != nil {
		return err
	}
	return durable.Folder(filepath.Dir(from))
}

package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/internal/durable"
)

// Kept is where the program is kept that another one has replaced.
func Kept(path string) string { return path + ".old" }

// Replace puts a program in place of the one at a path, which is kept as Kept. At no moment is there
// none at the path. `check` is given the new one before, under another name; its error ends it.
func Replace(path string, program []byte, check func(path string) error) (err error) {
	mode := fs.FileMode(0o755)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	// The name ends as the path does: Windows starts nothing that does not end in .exe.
	fresh := filepath.Join(filepath.Dir(path), ".new-"+filepath.Base(path))
	if err := durable.WriteFile(fresh, program, mode); err != nil {
		return err
	}
	if err := check(fresh); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := keep(path, Kept(path)); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := os.Rename(fresh, path); err != nil {
		return errors.Join(err, os.Rename(Kept(path), path), os.Remove(fresh))
	}
	return durable.Folder(filepath.Dir(path))
}

// Back exchanges the program at a path for the one that it replaced.
func Back(path string) error {
	if _, err := os.Stat(Kept(path)); err != nil {
		return fmt.Errorf("no earlier program is kept at %s", Kept(path))
	}
	aside := filepath.Join(filepath.Dir(path), ".aside-"+filepath.Base(path))
	if err := keep(path, aside); err != nil {
		return err
	}
	if err := os.Rename(Kept(path), path); err != nil {
		return errors.Join(err, os.Rename(aside, path))
	}
	return errors.Join(os.Rename(aside, Kept(path)), durable.Folder(filepath.Dir(path)))
}

// keep gives a program a second name, in place of what has that name. Where the disk or the system
// has no second names, the program moves there: Windows renames a program that runs.
func keep(path, as string) error {
	if err := os.Remove(as); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(path, as); err == nil {
		return nil
	}
	return os.Rename(path, as)
}

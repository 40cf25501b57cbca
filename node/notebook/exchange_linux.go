package notebook

import (
	"errors"
	"fmt"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// settle and patience are how long a replaced file is waited for. A program that had opened the
// file before may be writing into it just then, and one that was about to open it may still do so.
// settle is always waited for. patience is the most that is waited for if the file system tells
// that somebody has the file open.
const (
	settle   = 25 * time.Millisecond
	patience = time.Second
)

// exchange swaps the names of two files in one folder, in one step. So what somebody saves at that
// moment is read, and not lost. It returns the content of the file that had `name`. If that cannot
// be read, the names are swapped back.
func exchange(root *os.Root, half, name string) (displaced []byte, err error) {
	dir, err := openDir(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	swap := func() error {
		fd := int(dir.Fd())
		return unix.Renameat2(fd, path.Base(half), fd, path.Base(name), unix.RENAME_EXCHANGE)
	}
	switch err = swap(); {
	case unsupported(err):
		return renamed(root, half, name)
	case errors.Is(err, unix.ENOENT): // somebody has removed it, and may be about to write it anew
		return nil, renameNew(root, half, name)
	case err != nil:
		return nil, err
	}
	displaced, err = settled(root, half)
	if err != nil && !errors.Is(err, errOpen) {
		err = errors.Join(err, unlessMissing(swap()))
	}
	return displaced, err
}

// settled reads a file when nobody has it open for writing any more. It returns errOpen if that
// does not happen within patience.
func settled(root *os.Root, name string) ([]byte, error) {
	f, err := open(root, name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("%s has vanished", name)
	}
	defer f.Close()
	time.Sleep(settle)
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK) // fails while somebody may write
		if err == nil {
			_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		}
		switch {
		case !errors.Is(err, unix.EAGAIN): // nobody has it open, or that cannot be told: no leases, or somebody else's file
			return read(root, name)
		case time.Since(begun) > patience:
			return nil, errOpen
		}
	}
}

// renameNew gives a file a name that nothing has yet, in one step. What somebody saves meanwhile
// goes with it, or is a file of its own. It returns fs.ErrExist if something has that name.
func renameNew(root *os.Root, from, to string) error {
	source, err := openDir(root, path.Dir(from))
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := openDir(root, path.Dir(to))
	if err != nil {
		return err
	}
	defer target.Close()
	err = unix.Renameat2(int(source.Fd()), path.Base(from), int(target.Fd()), path.Base(to), unix.RENAME_NOREPLACE)
	if unsupported(err) {
		return unlessThere(root, from, to)
	}
	return err
}

// unsupported reports whether a kernel or file system does not know renameat2's flags.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL)
}

// openDir opens a folder. If a pipe is in its place, openDir returns an error and does not wait.
func openDir(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
}

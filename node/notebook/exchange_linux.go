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

// A program that had opened a file before it was replaced writes into it just then, and one that
// was about to open it still gets at it. Such programs are waited for: a moment, and longer where
// the file system tells that somebody has the file open.
const (
	settle   = 25 * time.Millisecond
	patience = time.Second
)

// exchange has two files change names, both in one folder, at once; so what is saved at that
// moment is read and not lost. It returns what had the name. What cannot be read gets its
// name back.
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
		return nil, place(root, half, name)
	case err != nil:
		return nil, err
	}
	displaced, err = settled(root, half)
	if err != nil && !errors.Is(err, errOpen) {
		err = errors.Join(err, unlessMissing(swap()))
	}
	return displaced, err
}

// settled is what a file has when nobody has it open any more to write into it.
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
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK) // refused while somebody may write
		if err == nil {
			_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		}
		switch {
		case !errors.Is(err, unix.EAGAIN): // nobody, or it cannot tell: no leases, somebody else's file
			return read(root, name)
		case time.Since(begun) > patience:
			return nil, errOpen
		}
	}
}

// renameNew gives a file a name that nothing has yet, in one step: whatever is saved goes
// with it or is a file of its own.
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
		return linked(root, from, to)
	}
	return err
}

// unsupported reports whether a kernel or file system does not know renameat2's flags.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL)
}

// openDir opens a folder. A pipe in its place is refused, not waited for.
func openDir(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
}

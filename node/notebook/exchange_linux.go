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

// settle is how long is waited for who had opened the file before it was replaced and writes
// what they have to say just then.
const settle = 25 * time.Millisecond

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
	time.Sleep(settle)
	displaced, err = read(root, half)
	if err == nil && displaced == nil {
		err = fmt.Errorf("what was in %s has vanished", name)
	}
	if err != nil {
		return nil, errors.Join(err, unlessMissing(swap()))
	}
	return displaced, nil
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

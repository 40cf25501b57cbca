package notebook

import (
	"errors"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// settle is how long is waited for who had opened the file before it was replaced and writes
// what they have to say just then.
const settle = 25 * time.Millisecond

// exchange has two files change names, both in one folder, at once; so what is saved at that
// moment is read and not lost. It returns what had the name.
func exchange(root *os.Root, half, name string) (displaced []byte, err error) {
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.Renameat2(fd, path.Base(half), fd, path.Base(name), unix.RENAME_EXCHANGE)
	switch {
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT):
		return renamed(root, half, name)
	case err != nil:
		return nil, err
	}
	time.Sleep(settle)
	return read(root, half)
}

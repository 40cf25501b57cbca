//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// waits reports whether something can be read at a terminal at once.
func waits(fd int) bool {
	var in unix.FdSet
	in.Set(fd)
	n, err := unix.Select(fd+1, &in, nil, nil, &unix.Timeval{})
	return err == nil && n > 0
}

// forget drops what can be read at a terminal at once.
func forget(fd int) {
	for some := make([]byte, 256); waits(fd); {
		if n, err := unix.Read(fd, some); n <= 0 || err != nil {
			return
		}
	}
}

// interrupt ends a wait for a key.
type interrupt struct{ read, write *os.File }

func newInterrupt() (*interrupt, error) {
	read, write, err := os.Pipe()
	return &interrupt{read, write}, err
}

// raise ends the wait. It reports whether that is done at once.
func (i *interrupt) raise() bool { return i.write.Close() == nil }

// wait waits until something can be read at a terminal. It returns false if the wait was ended.
func (i *interrupt) wait(fd int) bool {
	for {
		var in unix.FdSet
		over := int(i.read.Fd())
		in.Set(fd)
		in.Set(over)
		if _, err := unix.Select(max(fd, over)+1, &in, nil, nil, nil); err != unix.EINTR {
			return err != nil || !in.IsSet(over) // an error comes again when it is read
		}
	}
}

func (i *interrupt) close() {
	_ = i.write.Close() // after raise, it is closed
	_ = i.read.Close()
}

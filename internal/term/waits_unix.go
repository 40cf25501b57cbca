//go:build unix

package term

import "golang.org/x/sys/unix"

// waits reports whether something can be read at a terminal at once.
func waits(fd int) bool {
	var in unix.FdSet
	in.Set(fd)
	n, err := unix.Select(fd+1, &in, nil, nil, &unix.Timeval{})
	return err == nil && n > 0
}

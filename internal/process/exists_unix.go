//go:build unix

package process

import (
	"errors"
	"syscall"
)

// exists reports whether there is a process with that number, even if it is hidden.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

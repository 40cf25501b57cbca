//go:build unix

package control

import (
	"errors"
	"io/fs"
	"syscall"
)

// notThere reports the errors of dialing a socket that nobody listens on.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

package control

import (
	"errors"
	"io/fs"
	"syscall"
)

// wsaConnRefused is WSAECONNREFUSED, which package syscall does not name.
const wsaConnRefused = syscall.Errno(10061)

// notThere reports the errors of dialing a socket that nobody listens on.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, wsaConnRefused)
}

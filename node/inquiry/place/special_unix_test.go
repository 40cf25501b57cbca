//go:build unix

package place

import (
	"syscall"
	"testing"
)

// special makes a pipe. A program that opened it would wait for its other end.
func special(t *testing.T, path string) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

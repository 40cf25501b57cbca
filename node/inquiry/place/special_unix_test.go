//go:build unix

package place

import (
	"syscall"
	"testing"
)

// special makes a pipe: who opened it would wait for its other end.
func special(t *testing.T, path string) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

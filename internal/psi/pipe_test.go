//go:build linux || darwin

package psi_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/parleyfleet/parley/internal/psi"
)

// It prevents: a pipe in the place of a file, for example one that was put there between a look and
// the opening, has a program that opens it wait for ever.
func TestAPipeNeverHangs(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "note.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if data, err := psi.Read(root, "note.md", 10); !errors.Is(err, psi.ErrNotPlain) {
		t.Errorf("%q, %v", data, err)
	}
	none := func(string, bool) bool { return false }
	if err := psi.Walk(t.Context(), root, none, func(name string, _ fs.FileInfo) { t.Errorf("%s is seen", name) }); err != nil {
		t.Error(err)
	}
}

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// It prevents: a folder that somebody removed while a program worked in it comes back, open to
// everybody.
func TestFoldersInMakesNoRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	deep := filepath.Join(root, "a", "b")
	if err := FoldersIn(root, deep, 0o755); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its root: %v", err)
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the root was made: %v", err)
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := FoldersIn(root, deep, 0o755); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(deep); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	if err := FoldersIn(deep, root, 0o755); err == nil {
		t.Error("a folder outside was taken")
	}
}

package mapped

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Open(path); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	for _, size := range []int{0, 1, 4096, 10_000} {
		want := bytes.Repeat([]byte{'x'}, size)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Data, want) {
			t.Errorf("%d bytes are read as %d", size, len(f.Data))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was mapped")
	}
}

// A mapped file stays as it was when another file takes its name.
func TestReplacedFileStays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "new"), path); err != nil {
		t.Skip("this system does not replace a file in use")
	}
	if string(f.Data) != "old" {
		t.Errorf("it reads %q", f.Data)
	}
}

//go:build unix

package configs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// It prevents: a key that others can read is used without a word, and chmod 755 on the home makes
// the record readable for everybody.
func TestTighten(t *testing.T) {
	h := Home{Dir: filepath.Join(t.TempDir(), "home")}
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	write := func(path string, mode fs.FileMode) string {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := write(filepath.Join(h.Keys(), "host.nk"), 0o640)
	closed := write(filepath.Join(h.Keys(), "server.id"), 0o400)
	agent := write(filepath.Join(h.Agents(), "mawjs.yaml"), 0o604)
	elsewhere := write(filepath.Join(t.TempDir(), "config.yaml"), 0o644)
	if err := os.Symlink(elsewhere, h.Config()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.Record(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.Record(), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := h.Tighten()
	want := []Opened{{Path: h.Record(), Mode: 0o755}, {Path: key, Mode: 0o640, Key: true}, {Path: agent, Mode: 0o604}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("closed (-want +got), %v:\n%s", err, diff)
	}
	for path, mode := range map[string]fs.FileMode{h.Record(): 0o700, key: 0o600, closed: 0o400, agent: 0o600, elsewhere: 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want mode %04o", path, info.Mode().Perm(), err, mode)
		}
	}
	if again, err := h.Tighten(); len(again) > 0 || err != nil {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	if open := h.OpenToOthers(); open != "" {
		t.Error(open)
	}
	if err := os.Chmod(h.Dir, 0o711); err != nil {
		t.Fatal(err)
	}
	if open := h.OpenToOthers(); open == "" {
		t.Error("a home of mode 0711 is taken for closed")
	}
}

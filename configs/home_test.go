package configs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wantPrivate checks that only its owner can read a file or folder.
func wantPrivate(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		t.Errorf("%s has mode %04o", path, mode)
	}
}

func TestHomePaths(t *testing.T) {
	h := Home{Dir: "h"}
	got := []string{h.Config(), h.Agents(), h.Keys(), h.Record(), h.Journal(), h.Cache(), h.Socket(), h.Lock(), h.Log()}
	for i := range got {
		got[i] = filepath.ToSlash(got[i])
	}
	want := []string{"h/config.yaml", "h/agents", "h/keys", "h/record.git", "h/journal", "h/cache", "h/control.sock", "h/lock", "h/node.log"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDefaultHomeNamed(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{filepath.Join(dir, "a"), "a"} {
		got, err := DefaultHome(func(key string) string { return map[string]string{"PARLEY_HOME": name}[key] })
		if err != nil || filepath.Base(got) != "a" || !filepath.IsAbs(got) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestHomeCreate(t *testing.T) {
	h := Home{Dir: filepath.Join(t.TempDir(), "deep", "home")}
	if err := h.Check(); err != nil {
		t.Errorf("before: %v", err)
	}
	for range 2 {
		if err := h.Create(); err != nil {
			t.Fatal(err)
		}
		if err := h.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, dir := range []string{h.Dir, h.Agents(), h.Keys(), h.Journal(), h.Cache()} {
		wantPrivate(t, dir)
	}
	if err := os.WriteFile(h.Config(), Render(full()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.Check(); err != nil {
		t.Errorf("a home with a file of its operator: %v", err)
	}

	file := Home{Dir: h.Config()}
	if err := file.Create(); err == nil || !strings.HasPrefix(err.Error(), "cannot make the home ") {
		t.Errorf("in place of a file: %v", err)
	}
}

func wantHomeError(t *testing.T, h Home, want string) {
	t.Helper()
	var wrong *HomeError
	if err := h.Check(); !errors.As(err, &wrong) || err.Error() != "cannot use "+h.Dir+" as a home: "+want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestHomeOfOthers(t *testing.T) {
	h := Home{Dir: filepath.Join(t.TempDir(), "home")}
	if err := os.Mkdir(h.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lock", "record.git.new", "runs.log.1", "withheld-files", "members", "thesis.txt", "zoo"} {
		if err := h.Check(); err != nil {
			t.Errorf("before %s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(h.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "thesis.txt" {
			break
		}
	}
	wantHomeError(t, h, `it is not a parley home: it holds "thesis.txt" and no config.yaml; name an empty folder`)
	wantHomeError(t, Home{Dir: filepath.Join(h.Dir, "thesis.txt")}, "it is not a folder")
}

// Whoever names a home means its node, also where the environment names a socket.
func TestFindSocket(t *testing.T) {
	usual := func(key string) string {
		return map[string]string{"PARLEY_HOME": "/p", "PARLEY_SOCKET": "/s"}[key]
	}
	for named, want := range map[string]string{"": "/s", "/h": Home{Dir: "/h"}.Socket()} {
		if got, err := FindSocket(named, usual); got != want || err != nil {
			t.Errorf("%q: %s %v, want %s", named, got, err, want)
		}
	}
}

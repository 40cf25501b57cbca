package psi_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parleyfleet/parley/internal/psi"
)

// files makes files below a folder. A name that ends in / is a folder.
func files(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if name[len(name)-1] == '/' {
			err = os.MkdirAll(at, 0o700)
		} else {
			err = os.WriteFile(at, []byte(name), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Work-with W1: the ψ of an agent is that of its working tree if a CLAUDE.md is beside it, else
// that of its folder (the seed's step 0). A program that reads it and a program that writes it mean
// the same ψ.
func TestOf(t *testing.T) {
	tests := []struct {
		name  string
		there []string
		dir   string
		want  string
	}{
		{"a folder in no working tree", []string{"a/b/"}, "a/b", "a/b/ψ"},
		{"above it is nobody's", []string{"a/ψ/", "a/b/"}, "a/b", "a/b/ψ"},
		{"a working tree with CLAUDE.md", []string{"a/.git/", "a/CLAUDE.md", "a/ψ/", "a/b/ψ/"}, "a/b", "a/ψ"},
		{"one without", []string{"a/.git/", "a/ψ/", "a/b/"}, "a/b", "a/b/ψ"},
		{"one without ψ", []string{"a/.git/", "a/CLAUDE.md", "a/b/"}, "a/b", "a/b/ψ"},
		{"the nearest working tree", []string{"a/.git/", "a/CLAUDE.md", "a/ψ/", "a/b/.git", "a/b/c/"}, "a/b/c", "a/b/c/ψ"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			files(t, dir, test.there...)
			if got, want := psi.Of(filepath.Join(dir, test.dir)), filepath.Join(dir, test.want); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	if got := psi.Of(""); got != "" {
		t.Errorf("no folder has %s", got)
	}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"/w/ψ", "/w/ψ", true}, {"/w/ψ", "/w/ψ/b/ψ", true}, {"/w/ψ/b/ψ", "/w/ψ", true},
		{"/w/ψ", "/w/ψ2", false}, {"/w/a/ψ", "/w/b/ψ", false}, {"", "/w/ψ", false}, {"", "", false},
	} {
		if got := psi.Share(test.a, test.b); got != test.want {
			t.Errorf("%q and %q share one: %v", test.a, test.b, got)
		}
	}
}

// Nothing outside of the folder is read, and no more than the limit allows.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, "secret", "ψ/note.md", "ψ/folder/")
	for link, to := range map[string]string{"out.md": "../secret", "in.md": "note.md"} {
		if err := os.Symlink(to, filepath.Join(dir, "ψ", link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "ψ"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	size := int64(len("ψ/note.md"))
	for _, name := range []string{"note.md", "in.md"} {
		if data, err := psi.Read(root, name, size); string(data) != "ψ/note.md" || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	for name, want := range map[string]error{"note.md": psi.ErrTooLarge, "folder": psi.ErrNotPlain, "none": fs.ErrNotExist} {
		if data, err := psi.Read(root, name, size-1); !errors.Is(err, want) || data != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if data, err := psi.Read(root, "out.md", size); !errors.Is(err, psi.ErrOutside) {
		t.Errorf("behind a link out of the folder: %q, %v", data, err)
	}
}

// Links are not followed, and the walk stops where it is told to stop.
func TestWalk(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, "other/x.md", "ψ/a.md", "ψ/b/c.md", "ψ/skipped/d.md")
	if err := os.Symlink(filepath.Join(dir, "other"), filepath.Join(dir, "ψ", "linked")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "ψ"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var got []string
	ctx, cancel := context.WithCancel(t.Context())
	see := func(name string, info fs.FileInfo) { got = append(got, name) }
	skip := func(name string, folder bool) bool { return folder && name == "skipped" }
	if err := psi.Walk(ctx, root, skip, see); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := []string{"a.md", "b/c.md"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	cancel()
	if err := psi.Walk(ctx, root, skip, func(name string, _ fs.FileInfo) { t.Errorf("%s is seen after the end", name) }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

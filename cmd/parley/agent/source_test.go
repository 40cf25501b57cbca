package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A source belongs to somebody else. Whatever it links to, nothing outside of it is read, and
// nothing that is too large or hidden. If it has folders for profiles, only those count.
func TestProfilesOfASource(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	profile := func(name string) string {
		return "---\nname: " + name + "\ndescription: d\n---\n\nYou are " + name + ".\n"
	}
	write := func(at, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := func() []string {
		t.Helper()
		found, err := profilesIn(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range found {
			names = append(names, f.file)
		}
		slices.Sort(names)
		return names
	}
	write(filepath.Join(dir, "a.md"), profile("a"))
	write(filepath.Join(dir, "deep", "b.md"), profile("b"))
	write(filepath.Join(dir, ".hidden", "c.md"), profile("c"))
	write(filepath.Join(dir, "large.md"), profile("large")+strings.Repeat("x", maxSourceFile))
	write(filepath.Join(dir, "none.md"), "---\nname: none\n---\n\nno description\n")
	write(filepath.Join(dir, "d.txt"), profile("d"))
	write(filepath.Join(outside, "secret.md"), profile("secret"))
	for link, to := range map[string]string{"link.md": filepath.Join(outside, "secret.md"), "folder": outside} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	if got := names(); !slices.Equal(got, []string{"a.md", "deep/b.md"}) {
		t.Errorf("found %q", got)
	}
	write(filepath.Join(dir, "local", "actors", "e.md"), profile("e"))
	write(filepath.Join(dir, "upstream", "actors", "f.md"), profile("f"))
	if got := names(); !slices.Equal(got, []string{"local/actors/e.md", "upstream/actors/f.md"}) {
		t.Errorf("with folders of its own found %q", got)
	}
	write(filepath.Join(dir, "upstream", "actors", "older.md"), profile("e")) // the local profile stands before it
	if err := os.Symlink(outside, filepath.Join(dir, "actors")); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) != 2 {
		t.Errorf("with a folder that is a link found %q", got)
	}
	// It prevents: profiles of this machine are shown, and taken over, as if they were the
	// source's.
	write(filepath.Join(outside, "actors", "secret.md"), profile("secret"))
	if err := os.RemoveAll(filepath.Join(dir, "local")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "local")); err != nil {
		t.Fatal(err)
	}
	if got := names(); !slices.Equal(got, []string{"upstream/actors/f.md", "upstream/actors/older.md"}) {
		t.Errorf("with a folder above that is a link found %q", got)
	}
}

package whereabouts

import (
	"os"
	"path/filepath"
	"testing"
)

func TestACopyIsAnotherPlace(t *testing.T) {
	top := t.TempDir()
	at := func(name string) Place {
		t.Helper()
		p, err := Of(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if err := os.MkdirAll(filepath.Join(top, "home", "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	home := at("home")
	if err := os.CopyFS(filepath.Join(top, "copy"), os.DirFS(filepath.Join(top, "home"))); err != nil {
		t.Fatal(err)
	}
	if home.Same(at("copy")) {
		t.Error("a copy is the same place")
	}
	if err := os.Rename(filepath.Join(top, "home"), filepath.Join(top, "renamed")); err != nil {
		t.Fatal(err)
	}
	if is := at("renamed"); !home.Same(is) {
		t.Errorf("renamed, %+v is %+v", home, is)
	}
	other := home
	other.Machine = "another"
	if home.Machine != "" && home.Same(other) {
		t.Error("two machines are one")
	}
	if _, err := Of(filepath.Join(top, "nowhere")); err == nil {
		t.Error("a folder that is not there is somewhere")
	}
}

func TestTheIDOfAMachineStaysThere(t *testing.T) {
	for _, none := range []string{"", "\n", "uninitialized\n"} {
		if got := hashed(none); got != "" {
			t.Errorf("%q gives %q", none, got)
		}
	}
	if a, b := hashed("a1\n"), hashed("a1"); a != b || a == "a1" || a == hashed("a2") {
		t.Errorf("hashes: %q and %q", a, b)
	}
}

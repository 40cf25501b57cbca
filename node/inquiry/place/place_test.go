package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

func TestMain(m *testing.M) { os.Exit(scratch.InMemory(m).Run()) }

var inquiry = protocol.DeriveChannel("record", "white", "@inquiry")

// write writes a file with the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

// material returns a function that gives a folder with what is investigated.
func material(t *testing.T) func() (string, error) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "b.txt"), "b")
	return func() (string, error) { return dir, nil }
}

func place(t *testing.T, s Spec) Place {
	t.Helper()
	p, err := Make(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's own clean-up could not remove what is read-only
		if err := Remove(s.Base, s.Inquiry); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Each member has a folder, a home and a copy of its own. A place that is found again is as it was
// left.
func TestMake(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	write(t, filepath.Join(home, ".tool", "login.json"), "secret")
	write(t, filepath.Join(home, ".tool", "history"), "what its user said")
	s := Spec{Base: t.TempDir(), Inquiry: inquiry, Perspective: "../Cost", Login: []string{".tool/login.json", ".tool/none"}, Material: material(t)}
	a := place(t, s)
	s.Perspective = "Operations"
	b := place(t, s)
	if a.Root == b.Root || !strings.HasPrefix(a.Root, s.Base) || a.Grade != "process" {
		t.Errorf("%+v and %+v", a, b)
	}
	for _, p := range []Place{a, b} {
		wantFile(t, filepath.Join(p.Home, ".tool", "login.json"), "secret")
		wantFile(t, filepath.Join(p.Dir, Material, "a", "b.txt"), "b")
		if _, err := os.Lstat(filepath.Join(p.Home, ".tool", "history")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what the program remembers of its user came along: %v", err)
		}
		for path, want := range map[string]fs.FileMode{
			p.Dir: 0o700, p.Home: 0o700, filepath.Join(p.Home, ".tool", "login.json"): 0o600,
			filepath.Join(p.Dir, Material): 0o555, filepath.Join(p.Dir, Material, "a", "b.txt"): 0o444,
		} {
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
			}
		}
	}
	write(t, filepath.Join(a.Dir, "notes"), "so far")
	write(t, filepath.Join(home, ".tool", "login.json"), "newer")
	s.Perspective = "../Cost"
	s.Material = func() (string, error) { return "", errors.New("asked for again") }
	if again := place(t, s); again != a {
		t.Errorf("found %+v again, want %+v", again, a)
	}
	wantFile(t, filepath.Join(a.Dir, "notes"), "so far")
	wantFile(t, filepath.Join(a.Home, ".tool", "login.json"), "secret")
}

// It prevents: a file that a crash cut short is taken for a whole file, and so is a folder that can
// no longer be written into.
func TestMakeAfterCrash(t *testing.T) {
	s := Spec{Base: t.TempDir(), Inquiry: inquiry, Perspective: "Cost", Material: material(t)}
	p := place(t, s)
	half := filepath.Join(p.Dir, Material, "a", "b.txt")
	for _, path := range []string{half, filepath.Dir(half)} {
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, half, "")
	if err := errors.Join(os.Remove(filepath.Join(p.Root, made)), os.Chmod(filepath.Dir(half), 0o555)); err != nil {
		t.Fatal(err)
	}
	place(t, s)
	wantFile(t, half, "b")
}

// A place that cannot be made is made whole later, or not at all.
func TestMakeFails(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	elsewhere := filepath.Join(t.TempDir(), "key")
	write(t, elsewhere, "not its")
	write(t, filepath.Join(home, "large"), strings.Repeat("x", maxLogin+1))
	if err := os.MkdirAll(filepath.Join(home, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"../up": "escapes", "large": "larger than 1024 KiB", "folder": "no plain file"}
	if os.Symlink(elsewhere, filepath.Join(home, "link")) == nil {
		names["link"] = "escapes"
	}
	s := Spec{Base: t.TempDir(), Inquiry: inquiry, Perspective: "Cost"}
	for name, want := range names {
		s.Login = []string{name}
		if p, err := Make(s); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `cannot make a place for "Cost": `) {
			t.Errorf("%s: %+v, %v; want %q", name, p, err, want)
		}
	}
	s.Login, s.Material = nil, func() (string, error) { return "", errors.New("it is gone") }
	if _, err := Make(s); err == nil || !strings.HasSuffix(err.Error(), "it is gone") {
		t.Errorf("without what is investigated: %v", err)
	}
	s.Material = nil
	place(t, s)
}

// The user of a place may change a folder as soon as it is theirs. It prevents: they put a link in
// its place while root still goes through it, and root gives them what lies where the link leads.
func TestPlaceIsHandedOverByNoLink(t *testing.T) {
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "shadow"), "root's")
	swap := func(in *os.Root, name string) {
		if err := errors.Join(in.Rename(name, name+".old"), in.Symlink(elsewhere, name)); err != nil {
			t.Fatal(err)
		}
	}
	if os.Symlink(elsewhere, filepath.Join(t.TempDir(), "link")) != nil {
		t.Skip("no links here")
	}
	s := Spec{Base: t.TempDir(), Inquiry: inquiry, Perspective: "Cost", Owner: &Owner{UID: os.Getuid(), GID: os.Getgid()}}
	p := Place{Root: filepath.Join(s.Base, "place")}
	p.Dir, p.Home = filepath.Join(p.Root, "work"), filepath.Join(p.Root, "home")
	for _, file := range []string{filepath.Join(p.Dir, Material, "a"), filepath.Join(p.Home, "a", "login"), filepath.Join(p.Home, "b", "login")} {
		write(t, file, "x")
	}
	var given []string
	lchown = func(in *os.Root, name string, _, _ int) error {
		if given = append(given, name); len(given) == 1 { // a folder that was seen, and is not opened yet
			home, err := os.OpenRoot(p.Home)
			if err != nil {
				t.Fatal(err)
			}
			swap(home, "b")
			return home.Close()
		}
		if info, err := in.Lstat(name); err == nil && info.IsDir() {
			swap(in, name)
		}
		return nil
	}
	t.Cleanup(func() { lchown = (*os.Root).Lchown })
	if err := s.hand(p); err != nil || strings.Join(given, " ") != "login a b home work" {
		t.Errorf("given: %q, %v", given, err)
	}
	write(t, filepath.Join(s.Base, "c", "d", "e"), "x")
	base, err := os.OpenRoot(s.Base)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	err = each(base, "c", func(in *os.Root, name string) error {
		if name == "d" {
			swap(in, name)
		}
		return nil
	}, func(_ *os.Root, name string) error {
		t.Errorf("%s was reached", name)
		return nil
	})
	if err == nil || err.Error() != "d was replaced meanwhile" {
		t.Error(err)
	}
}

// A member's environment leads to nothing that belongs to the node, and to no memory of its user.
func TestEnv(t *testing.T) {
	p := Place{Dir: "/m/work", Home: "/m/home"}
	got := p.Env([]string{
		"PATH=/bin", "LANG=C", "ANTHROPIC_API_KEY=k", "PARLEY_HOME=/h", "PARLEY_TOKEN=t", "parley_socket=s", "XDG_CONFIG_HOME=/x", "HOME=/root",
		"CODEX_HOME=/c", "CLAUDE_CONFIG_DIR=/d", "SSH_AUTH_SOCK=/s", "TMUX=1", "TMPDIR=/tmp", "PWD=/", "OLDPWD=/", "LLM_USER_PATH=/l",
	})
	want := []string{"PATH=/bin", "LANG=C", "ANTHROPIC_API_KEY=k", "HOME=/m/home", "TMPDIR=" + filepath.Join("/m/home", "tmp"), "PWD=/m/work"}
	if runtime.GOOS == "windows" {
		got = got[:len(want)]
	}
	if !slices.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
}

// The folders in which an inquiry's members worked are removed, however they were left. Those of
// another inquiry stay.
func TestRemove(t *testing.T) {
	s := Spec{Base: t.TempDir(), Inquiry: inquiry, Perspective: "Cost", Material: material(t)}
	p := place(t, s)
	write(t, filepath.Join(p.Dir, "closed", "deep", "file"), "x")
	if err := os.Chmod(filepath.Join(p.Dir, "closed", "deep"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(p.Dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	write(t, kept, "kept")
	_ = os.Symlink(filepath.Dir(kept), filepath.Join(p.Dir, "link"))
	s.Inquiry = protocol.DeriveChannel("record", "white", "@another")
	other := place(t, s)
	for range 2 { // what is already gone is no error
		if err := Remove(s.Base, inquiry); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Dir(p.Root)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	wantFile(t, kept, "kept")
	wantFile(t, filepath.Join(other.Dir, Material, "a", "b.txt"), "b")
}

package root

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

// lines is a terminal at which a person types a line for each question, and reads the questions.
type lines struct {
	io.Reader
	io.Writer
}

func (lines) Close() error { return nil }

// typing gives one line to one question, as a terminal does, however much is read at once.
func typing(typed string, screen io.Writer) lines {
	return lines{iotest.OneByteReader(strings.NewReader(typed)), screen}
}

// It prevents: a home that is gone because of an answer that nobody gave, and files of parley's that
// nobody finds any more.
func TestUninstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the home of a person is elsewhere there")
	}
	for _, c := range []struct {
		name, typed string
		code        int
		says        []string
		home        bool // it stays
		skill       bool // it stays
		archive     bool
	}{
		{"nothing agreed", "\n\nkeep\n", cli.ExitDone, []string{"skills for codex", "What waits on", "this host carries the record of the fleet", "3 of 3", "kept: ", "Its node runs on", "This removes it:\n\n  rm "}, true, true, false},
		{"all by default", "y\n\n\n", cli.ExitDone, []string{"out: skills for codex", "packed: ", "removed: "}, false, false, true},
		{"for good", "n\nn\ndelete\n", cli.ExitDone, []string{"removed: "}, false, true, false},
		{"a riddle", "n\nn\nyes\n", cli.ExitUsage, []string{`"yes" is none of Enter, delete and keep; it stays`}, true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t)
			person := t.TempDir()
			t.Setenv("HOME", person)
			bin := t.TempDir()
			r.Env["HOME"], r.Env["SHELL"], r.Env["PATH"] = person, "/nonexistent", bin
			if own, err := os.Executable(); err != nil {
				t.Fatal(err)
			} else if err := os.Symlink(own, filepath.Join(bin, "parley")); err != nil {
				t.Fatal(err)
			}
			home := filepath.Join(person, "node")
			r.Env["PARLEY_HOME"] = home
			for name, text := range map[string]string{"config.yaml": "alias: white\n", "keys/host.nk": "secret"} {
				file := filepath.Join(home, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			clitest.On(r, control.ShowStatus.Verb, control.Status{Host: "white", Fleet: "demo", Record: control.RecordStatus{Remote: "parley://white"}})
			if code := r.Do("agent", "skill", "install", "codex"); code != cli.ExitDone {
				t.Fatal(r.Err.String())
			}
			skill := filepath.Join(person, ".agents", "skills", "parley", "SKILL.md")
			r.Program.Terminal = func() (io.ReadWriteCloser, error) { return typing(c.typed, &r.Err), nil }
			code := r.Do("uninstall")
			said := r.Out.String() + r.Err.String()
			if code != c.code {
				t.Errorf("exit %d\n%s", code, said)
			}
			for _, text := range c.says {
				if !strings.Contains(said, text) {
					t.Errorf("it does not say %q:\n%s", text, said)
				}
			}
			_, homeErr := os.Stat(home)
			_, skillErr := os.Stat(skill)
			archives, _ := filepath.Glob(filepath.Join(person, "parley-home-*.tar.gz"))
			if (homeErr == nil) != c.home || (skillErr == nil) != c.skill || (len(archives) == 1) != c.archive {
				t.Errorf("home %v, skill %v, archives %q\n%s", homeErr, skillErr, archives, said)
			}
			for _, file := range archives {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v %v", info.Mode(), err)
				}
			}
		})
	}
}

// It prevents: of a home that is reached by a link, the link is packed and removed, and the keys stay
// although the screen says that they are gone.
func TestUninstallOfALinkedHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	for _, typed := range []string{"n\n\n", "n\ndelete\n"} {
		r := newRun(t)
		person, disk := t.TempDir(), t.TempDir()
		t.Setenv("HOME", person)
		bin := t.TempDir()
		if own, err := os.Executable(); err != nil {
			t.Fatal(err)
		} else if err := os.Symlink(own, filepath.Join(bin, "parley")); err != nil {
			t.Fatal(err)
		}
		home, link := filepath.Join(disk, "node"), filepath.Join(person, "link")
		r.Env["HOME"], r.Env["SHELL"], r.Env["PATH"], r.Env["PARLEY_HOME"] = person, "/nonexistent", bin, link
		if err := errors.Join(os.Mkdir(home, 0o700), os.Symlink(home, link), os.WriteFile(filepath.Join(home, "config.yaml"), make([]byte, 1<<16), 0o600)); err != nil {
			t.Fatal(err)
		}
		r.Program.Terminal = func() (io.ReadWriteCloser, error) { return typing(typed, &r.Err), nil }
		code := r.Do("uninstall")
		_, homeErr := os.Stat(home)
		_, linkErr := os.Lstat(link)
		if code != cli.ExitDone || homeErr == nil || linkErr == nil {
			t.Errorf("exit %d, home %v, link %v\n%s", code, homeErr, linkErr, r.Out.String()+r.Err.String())
		}
		archives, _ := filepath.Glob(filepath.Join(person, "parley-home-*.tar.gz"))
		for _, file := range archives {
			if names := namesIn(t, file); !slices.Contains(names, "node/config.yaml") {
				t.Errorf("the archive has %q", names)
			}
		}
		if packed := len(archives) == 1; packed == strings.Contains(typed, "delete") {
			t.Errorf("after %q: %q", typed, archives)
		}
	}
}

// It prevents: whoever has made a node of their own folder loses it with the answer "delete", and is asked
// a second question without a first.
func TestUninstallOfAPersonsFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the home of a person is elsewhere there")
	}
	for _, in := range []string{"", "nat"} { // the folder itself, and one below the home
		r := newRun(t)
		home := t.TempDir()
		person := filepath.Join(home, in)
		if err := os.MkdirAll(person, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", person)
		bin := t.TempDir()
		if own, err := os.Executable(); err != nil {
			t.Fatal(err)
		} else if err := os.Symlink(own, filepath.Join(bin, "parley")); err != nil {
			t.Fatal(err)
		}
		r.Env["HOME"], r.Env["SHELL"], r.Env["PATH"], r.Env["PARLEY_HOME"] = person, "/nonexistent", bin, home
		diary := filepath.Join(person, "diary")
		if err := errors.Join(os.WriteFile(filepath.Join(home, "config.yaml"), []byte("alias: white\n"), 0o600), os.WriteFile(diary, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		r.Program.Terminal = func() (io.ReadWriteCloser, error) { return typing("n\ndelete\n", &r.Err), nil }
		code := r.Do("uninstall")
		said := r.Out.String() + r.Err.String()
		if _, err := os.Stat(diary); code != cli.ExitDone || err != nil || !strings.Contains(said, "rm -r "+filepath.Join(home, "config.yaml")) || !strings.Contains(said, "1 of 1") && !strings.Contains(said, "1 of 2") {
			t.Errorf("exit %d, %v\n%s", code, err, said)
		}
	}
}

// namesIn are the names of what an archive holds.
func namesIn(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

func TestUninstallNeedsATerminal(t *testing.T) {
	r := newRun(t)
	if code := r.Do("uninstall"); code != cli.ExitFailed || !strings.Contains(r.Err.String(), "this command has no terminal") {
		t.Errorf("exit %d, %s", code, r.Err.String())
	}
}

package root

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
)

// lines is a terminal at which a person types a line for each question, and reads the questions.
type lines struct {
	io.Reader
	io.Writer
}

func (lines) Close() error { return nil }

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
		{"nothing agreed", "\n\nkeep\n", cli.ExitDone, []string{"skills for codex", "What waits on", "3 of 3", "kept: ", "This removes it:\n\n  rm "}, true, true, false},
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
			if code := r.Do("agent", "skill", "install", "codex"); code != cli.ExitDone {
				t.Fatal(r.Err.String())
			}
			skill := filepath.Join(person, ".agents", "skills", "parley", "SKILL.md")
			r.Program.Terminal = func() (io.ReadWriteCloser, error) { return lines{strings.NewReader(c.typed), &r.Err}, nil }
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

func TestUninstallNeedsATerminal(t *testing.T) {
	r := newRun(t)
	if code := r.Do("uninstall"); code != cli.ExitFailed || !strings.Contains(r.Err.String(), "this command has no terminal") {
		t.Errorf("exit %d, %s", code, r.Err.String())
	}
}

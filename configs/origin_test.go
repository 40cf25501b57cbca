package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Each way in which a home can be elsewhere than it was has words of its own. A person who reads
// these words decides whether two nodes may run.
func TestAHomeThatIsElsewhere(t *testing.T) {
	now := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(t *testing.T, h Home, file string) string
		want   string // "": the home is where it was
	}{
		"where it was": {func(_ *testing.T, _ Home, file string) string { return file }, ""},
		"a system without an id": {func(_ *testing.T, _ Home, file string) string {
			return without(file, "machine:")
		}, ""},
		"a disk that does not say when": {func(_ *testing.T, _ Home, file string) string {
			return without(file, "born:")
		}, ""},
		"another folder": {func(_ *testing.T, h Home, file string) string {
			return strings.ReplaceAll(without(file, "folder:"), "path: "+h.Dir, "path: /old") + "folder: 1\n"
		}, "a copy of /old on this machine (since 2026-05-23 19:01Z)"},
		"another folder at the same path": {func(_ *testing.T, _ Home, file string) string {
			return without(file, "folder:") + "folder: 1\n"
		}, "a copy of the folder that was"},
		"another machine": {func(_ *testing.T, _ Home, file string) string {
			return without(without(file, "machine:"), "host:") + "machine: 0123\nhost: laptop\n"
		}, "on another machine, laptop (since"},
	} {
		t.Run(name, func(t *testing.T) {
			h := Home{Dir: filepath.Join(t.TempDir(), "home")}
			if err := errors.Join(h.Create(), h.NoteOrigin(now)); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(h.Origin())
			if err != nil {
				t.Fatal(err)
			}
			if name == "another machine" && !strings.Contains(string(data), "machine:") {
				t.Skip("this system has no id")
			}
			if err := os.WriteFile(h.Origin(), []byte(c.change(t, h, string(data))), 0o600); err != nil {
				t.Fatal(err)
			}
			known, err := h.CheckOrigin()
			copied := new(CopiedError)
			switch {
			case !known:
				t.Errorf("the home does not know where it was: %v", err)
			case c.want == "" && err != nil:
				t.Errorf("%v, want it where it was", err)
			case c.want != "" && (!errors.As(err, &copied) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// without returns a file without the lines that begin so.
func without(file, begins string) string {
	var kept []string
	for line := range strings.Lines(file) {
		if !strings.HasPrefix(line, begins) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// A file from which no origin can be read is no reason to run beside the first node.
func TestAnOriginThatCannotBeRead(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	if known, err := h.CheckOrigin(); known || err != nil {
		t.Fatalf("a home of an earlier version: %v, %v", known, err)
	}
	if err := os.WriteFile(h.Origin(), []byte("folder: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.CheckOrigin(); err == nil || !strings.Contains(err.Error(), h.Origin()) {
		t.Errorf("%v, want the file named", err)
	}
}

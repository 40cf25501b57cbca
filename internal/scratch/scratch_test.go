package scratch

import (
	"os"
	"path/filepath"
	"testing"
)

// someTests are tests that look where they may write, and leave a file there.
type someTests struct {
	t     *testing.T
	wrote string
}

func (s *someTests) Run() int {
	s.wrote = filepath.Join(os.TempDir(), "left")
	if err := os.WriteFile(s.wrote, nil, 0o600); err != nil {
		s.t.Error(err)
	}
	return 3
}

// It prevents: tests that ignore where they were told to write, or that leave what they wrote in
// memory.
func TestInMemory(t *testing.T) {
	mine := t.TempDir()
	t.Setenv("TMPDIR", mine)
	s := &someTests{t: t}
	if code := InMemory(s).Run(); code != 3 || filepath.Dir(s.wrote) != mine {
		t.Errorf("told to write to %s they wrote %s and ended with %d", mine, s.wrote, code)
	}
	if !plenty(folder) {
		t.Skip("there is not enough memory for tests to write into")
	}
	t.Setenv("TMPDIR", "")
	if code := InMemory(s).Run(); code != 3 || filepath.Dir(filepath.Dir(s.wrote)) != folder {
		t.Errorf("they wrote %s and ended with %d", s.wrote, code)
	}
	if _, err := os.Stat(filepath.Dir(s.wrote)); !os.IsNotExist(err) {
		t.Errorf("what they wrote is left: %v", err)
	}
}

package notebook

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// It prevents: a program has a file open when the file is replaced, and what it writes a moment
// later goes into a deleted file.
func TestAProgramKeepsAFileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := folderAt(t, dir)
	if _, err := edit(root, "topic.md", sheet("- [A1] one").Render); err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(filepath.Join(dir, "topic.md"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	reader, err := os.Open(filepath.Join(dir, "topic.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := unix.FcntlInt(reader.Fd(), unix.F_SETLEASE, unix.F_RDLCK); !errors.Is(err, unix.EAGAIN) {
		t.Skipf("this file system does not tell who writes: %v", err)
	}
	if _, err := edit(root, "topic.md", sheet("- [A1] one", "- [A2] two").Render); !errors.Is(err, errOpen) {
		t.Errorf("of an open file it says %v", err)
	}
	if _, err := program.WriteString("my words, later\n"); err != nil {
		t.Fatal(err)
	}
	files := everything(t, dir)
	lacks(t, files["topic.md"], "- [A2] two")
	lacks(t, files["topic.md.saved-1"], "my words, later\n")
	if len(files) != 2 {
		t.Errorf("there are %v", files)
	}
	if _, err := edit(root, "topic.md", sheet("- [A1] one").Render); err != nil {
		t.Errorf("the file that nobody has open cannot be written: %v", err)
	}
}

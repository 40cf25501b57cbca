package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// folderAt opens a folder as parley opens it.
func folderAt(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return root
}

// everything returns the bytes of all files of a folder, by their paths below it.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(at)
		name, _ := filepath.Rel(dir, at)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func find(files map[string]string, text string) (names []string) {
	for name, data := range files {
		if strings.Contains(data, text) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A file is put away while an editor saves it. It prevents: a save between a link and a removal is
// lost.
func TestAnEditorSavesWhatIsPutAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := folderAt(t, dir)
	const saves = 800
	done := make(chan struct{})
	var saving sync.WaitGroup
	saving.Go(func() {
		defer close(done)
		for n := range saves {
			half := filepath.Join(dir, "topic.md~")
			if err := os.WriteFile(half, fmt.Appendf(nil, "save %d.", n), 0o644); err != nil {
				t.Error(err)
				return
			}
			if err := os.Rename(half, filepath.Join(dir, "topic.md")); err != nil {
				t.Error(err)
				return
			}
			for { // the next save begins when this one was put away
				if _, err := os.Lstat(filepath.Join(dir, "topic.md")); err != nil || n%2 == 0 {
					break
				}
			}
		}
	})
	seen := map[string]bool{}
	for n, last := 0, false; ; n++ {
		to := fmt.Sprintf("archived-%d", n)
		err := renameNew(root, "topic.md", to)
		if err != nil && !missing(err) {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, to)); err == nil {
			seen[string(data)] = true
		}
		if last && missing(err) {
			break
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
	saving.Wait()
	for n := 1; n < saves; n += 2 { // nobody saved over these
		if !seen[fmt.Sprintf("save %d.", n)] {
			t.Fatalf("save %d is lost", n)
		}
	}
}

// Where the system cannot look and rename in one step, nothing that is there is overwritten either.
func TestPutAwayInTwoSteps(t *testing.T) {
	dir := t.TempDir()
	root := folderAt(t, dir)
	file := filepath.Join(dir, "topic.md")
	for i, text := range []string{"mine", "later"} {
		if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := unlessThere(root, "topic.md", "there.md"); (i > 0) != errors.Is(err, fs.ErrExist) || i == 0 && err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if files := everything(t, dir); files["topic.md"] != "later" || files["there.md"] != "mine" {
		t.Errorf("there are %v", files)
	}
}

// It prevents: what was saved at the moment of a write and cannot be read is deleted, with the
// half-written file with which it changed names.
func TestWhatCannotBeReadIsKept(t *testing.T) {
	for name, save := range map[string]func(file string) error{
		"too large": func(file string) error {
			return errors.Join(os.WriteFile(file, []byte("my words\n"), 0o644), os.Truncate(file, maxSheet+1))
		},
		"a pipe":   func(file string) error { return errors.Join(os.Remove(file), fifo(file)) },
		"a folder": func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) },
		"a link":   func(file string) error { return errors.Join(os.Remove(file), os.Symlink("elsewhere", file)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root := folderAt(t, dir)
			file := filepath.Join(dir, "topic.md")
			s := sheet("- [A1] one")
			if _, err := edit(root, "topic.md", s.Render); err != nil {
				t.Fatal(err)
			}
			var saved os.FileInfo
			_, err := edit(root, "topic.md", func(existing []byte) []byte {
				if saved == nil {
					if err := save(file); err != nil {
						t.Fatal(err)
					}
					saved, _ = os.Lstat(file)
				}
				return sheet("- [A1] one", "- [A2] two").Render(existing)
			})
			if err == nil {
				t.Error("nothing is said of it")
			}
			if now, err := os.Lstat(file); err != nil || !os.SameFile(now, saved) {
				t.Errorf("what was saved is not there any more: %v, %v", now, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".parley-tmp-*")); len(left) > 0 {
				t.Errorf("half-written files are left: %v", left)
			}
		})
	}
}

// A pipe in the place of a file is refused, in words. It prevents: a node that opens the pipe waits
// for a reader that never comes.
func TestAPipeInThePlaceOfAFile(t *testing.T) {
	dir := t.TempDir()
	root := folderAt(t, dir)
	file := filepath.Join(dir, "sync.history.jsonl")
	if err := fifo(file); err != nil {
		t.Skip(err)
	}
	if _, err := read(root, "sync.history.jsonl"); err == nil || !strings.Contains(err.Error(), "sync.history.jsonl is a named pipe, no plain file") {
		t.Errorf("read says %v", err)
	}
	if err := add(root, "sync.history.jsonl", []byte("x\n")); err == nil {
		t.Error("something was written into it")
	}
	reader, err := os.OpenFile(file, os.O_RDWR, 0) // now a reader is there
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := add(root, "sync.history.jsonl", []byte("x\n")); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("add says %v", err)
	}
	if err := reader.SetReadDeadline(time.Now()); err == nil {
		if n, _ := reader.Read(make([]byte, 8)); n > 0 {
			t.Error("something was written into it")
		}
	}
}

// A file keeps its mode, which says who may read it.
func TestAFileKeepsItsMode(t *testing.T) {
	dir := t.TempDir()
	root := folderAt(t, dir)
	file := filepath.Join(dir, "topic.md")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := edit(root, "topic.md", sheet("- [A1] one").Render); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if data, _ := os.ReadFile(file); !bytes.Contains(data, []byte("[A1]")) {
		t.Errorf("it has %q", data)
	}
}

package node

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/node/examiner"
)

const (
	// maxNotes and maxNoteBytes bound what is read of an agent's notes; the newest come first.
	maxNotes     = 2000
	maxNoteBytes = 8 << 20
	maxNote      = 1 << 20 // bytes of one
)

// notesDir is where an agent keeps its notes.
const notesDir = "ψ"

// othersNotes are folders of ψ with what others wrote: mail, what was read, clones.
var othersNotes = map[string]bool{"inbox": true, "outbox": true, "learn": true, "incubate": true}

// readNotes gives read the notes of an agent that works in dir: the prose of its ψ/, in dir or
// the nearest folder above it that has one, up to that of its repository. What lies in the
// folders of mail and of others' works is not its own, and files below memory/collaborations
// are views of what was agreed on.
func readNotes(dir string, read func(examiner.Text)) error {
	root, ok := notesFolder(dir)
	if !ok {
		return nil
	}
	files, err := notesBelow(root)
	if err != nil {
		return fmt.Errorf("cannot read the notes in %s: %w", root, err)
	}
	left := maxNoteBytes
	for _, f := range files[:min(len(files), maxNotes)] {
		if left -= int(f.size); left < 0 {
			break
		}
		data, err := os.ReadFile(f.file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot read the note %s: %w", f.file, err)
		}
		body, first := withoutFrontmatter(strings.ToValidUTF8(string(data), "\uFFFD"))
		read(examiner.Text{Where: notesDir + "/" + f.name, First: first, At: time.Time{}, Body: body})
	}
	return nil
}

// notesFolder is the ψ of whoever works in dir.
func notesFolder(dir string) (root string, ok bool) {
	if !inRepository(dir) { // above it are folders of anybody
		target, err := filepath.EvalSymlinks(filepath.Join(dir, notesDir))
		if err != nil {
			return "", false
		}
		info, err := os.Stat(target)
		return target, err == nil && info.IsDir()
	}
	for dir != "" {
		if target, err := filepath.EvalSymlinks(filepath.Join(dir, notesDir)); err == nil {
			info, err := os.Stat(target)
			return target, err == nil && info.IsDir()
		}
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		above := filepath.Dir(dir)
		if err == nil || above == dir {
			return "", false
		}
		dir = above
	}
	return "", false
}

// inRepository reports whether a folder lies in a work tree of git.
func inRepository(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) || dir == "." {
			return false
		}
	}
}

// note is a file of notes.
type note struct {
	file, name string // name is below the root, with slashes
	size       int64
	at         time.Time
}

// notesBelow are the files of notes below root, the one that was changed last first.
func notesBelow(root string) (all []note, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || file == root {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case strings.HasPrefix(d.Name(), "."), d.IsDir() && othersNotes[name], strings.HasPrefix(name, "memory/collaborations"):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !slices.Contains([]string{".md", ".txt"}, strings.ToLower(filepath.Ext(name))):
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Size() <= maxNote {
			all = append(all, note{file, name, info.Size(), info.ModTime()})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b note) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	return all, err
}

// withoutFrontmatter is a text without the frontmatter that it may begin with, and the number
// of its first line then.
func withoutFrontmatter(text string) (body string, first int) {
	lines := strings.SplitAfter(text, "\n")
	if strings.TrimSpace(lines[0]) != "---" {
		return text, 1
	}
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "---" {
			return strings.Join(lines[i+2:], ""), i + 3
		}
	}
	return text, 1
}

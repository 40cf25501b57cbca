package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	headText     = "ref: refs/heads/main\n"
	packedHeader = "# pack-refs with:"
)

// repairHead makes HEAD name main if it names neither a ref nor a commit. Without a good HEAD, git
// does not take the folder for a repository.
func (r *Refs) repairHead() ([]string, error) {
	path := filepath.Join(r.dir, "HEAD")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read HEAD: %w", err)
	}
	text := strings.TrimSpace(string(data))
	target, symbolic := strings.CutPrefix(text, "ref: ")
	if plumbing.IsHash(text) {
		return nil, nil
	}
	if symbolic && strings.HasPrefix(target, "refs/") {
		if _, ok, err := r.Ref(target); target+"\n" == headText[len("ref: "):] || err == nil && ok {
			return nil, nil
		}
	}
	if err := WriteFile(path, []byte(headText)); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("HEAD held %.60q; it names main again", text)}, nil
}

// repairPackedRefs removes the lines of packed-refs that git cannot read. Because of one such line,
// git would refuse to read any ref. The old file is kept beside.
func (r *Refs) repairPackedRefs() ([]string, error) {
	bad := func(line string) bool {
		text, whole := strings.CutSuffix(line, "\n")
		return !whole || !isPackedRef(text)
	}
	old, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	if _, dropped := withoutLines(old, bad); dropped == 0 { // nearly always, and no lock is needed for that
		return nil, nil
	}
	dropped := 0
	err = r.lockPackedRefs(func(path string) error {
		old, err := r.packedRefs()
		if err != nil {
			return err
		}
		var good []byte
		if good, dropped = withoutLines(old, bad); dropped == 0 {
			return nil
		}
		if err := WriteFile(path+".damaged", old); err != nil {
			return err
		}
		return WriteFile(path, good)
	})
	if err != nil || dropped == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("left out %d lines of packed-refs that nobody can read; packed-refs.damaged has them", dropped)}, nil
}

// packedRefs returns the file packed-refs; it is empty if there is none.
func (r *Refs) packedRefs() ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read packed-refs: %w", err)
	}
	return data, nil
}

// lockPackedRefs calls do with the path of packed-refs, under git's lock of that file. While it is
// held, no other program packs refs.
func (r *Refs) lockPackedRefs(do func(path string) error) error {
	path := filepath.Join(r.dir, "packed-refs")
	lock, err := r.takeLock(path + ".lock")
	if err != nil {
		return fmt.Errorf("cannot write packed-refs: %w", err)
	}
	return errors.Join(do(path), lock.Close(), r.dropLock(path+".lock"))
}

// withoutLines returns packed-refs without the lines for which drop returns true, and without the
// line of a tag's commit that belongs to such a line. It returns the number of those lines, too.
func withoutLines(data []byte, drop func(line string) bool) (good []byte, dropped int) {
	gone := false
	for line := range bytes.Lines(data) {
		if ofTag := bytes.HasPrefix(line, []byte("^")); !ofTag || !gone {
			gone = drop(string(line))
		}
		if gone {
			dropped++
		} else {
			good = append(good, line...)
		}
	}
	return good, dropped
}

// isPackedRef reports whether git can read a line of packed-refs. Such a line is the header, a ref,
// or the commit of the tag that stands on the line before.
func isPackedRef(text string) bool {
	if rest, ok := strings.CutPrefix(text, "^"); ok {
		return plumbing.IsHash(rest)
	}
	hex, ref, _ := strings.Cut(text, " ")
	isRef := plumbing.IsHash(hex) && strings.HasPrefix(ref, "refs/") && plumbing.ReferenceName(ref).Validate() == nil
	return isRef || strings.HasPrefix(text, packedHeader)
}

// removeEmptyRefs removes the files of refs that a crash of the system left without content. Then
// the values that packed-refs has for these refs count again. The file of main stays, because the
// record itself puts main back.
func (r *Refs) removeEmptyRefs() ([]string, error) {
	var did []string
	err := eachFile(filepath.Join(r.dir, "refs"), true, func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil || info.Size() > 0 || !info.Mode().IsRegular() || strings.HasSuffix(path, ".lock") {
			return nil
		}
		name := below(r.dir, path)
		if name == branchPrefix+"main" {
			return nil
		}
		did = append(did, "removed the empty ref "+name)
		return removeFile(path)
	})
	if err != nil {
		return did, fmt.Errorf("cannot look for empty refs: %w", err)
	}
	return did, nil
}

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
	path := filepath.Join(r.dir, "packed-refs")
	bad, err := r.dropPackedRefs(func(line string) bool { return !isPackedRef(line) }, func(old []byte) error { return WriteFile(path+".damaged", old) })
	if err != nil || bad == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("left out %d lines of packed-refs that nobody can read; packed-refs.damaged has them", bad)}, nil
}

// dropPackedRefs removes the lines of packed-refs for which drop returns true, with the line of a
// tag's commit that belongs to such a line, and a last line that is cut short. It gives the old file
// to keep before it writes the new one, and returns how many lines it removed. It reads the file
// under git's lock: otherwise the refs that another program packs meanwhile would be lost.
func (r *Refs) dropPackedRefs(drop func(line string) bool, keep func(old []byte) error) (dropped int, err error) {
	path := filepath.Join(r.dir, "packed-refs")
	read := func() (old, good []byte, err error) {
		old, err = os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read packed-refs: %w", err)
		}
		good, dropped = withoutLines(old, drop)
		return old, good, nil
	}
	if _, _, err := read(); err != nil || dropped == 0 { // most refs are in a file of their own, and need no lock here
		return 0, err
	}
	lock, err := r.takeLock(path + ".lock")
	if err != nil {
		return 0, fmt.Errorf("cannot write packed-refs: %w", err)
	}
	old, good, err := read()
	if err == nil && dropped > 0 {
		if err = keep(old); err == nil {
			err = WriteFile(path, good)
		}
	}
	if err = errors.Join(err, lock.Close(), r.dropLock(path+".lock")); err != nil {
		return 0, fmt.Errorf("cannot write packed-refs: %w", err)
	}
	return dropped, nil
}

// withoutLines is packed-refs without the lines that dropPackedRefs removes, and their number.
func withoutLines(data []byte, drop func(line string) bool) (good []byte, dropped int) {
	gone := false
	for line := range bytes.Lines(data) {
		text, whole := strings.CutSuffix(string(line), "\n")
		if ofTag := strings.HasPrefix(text, "^"); !ofTag || !gone {
			gone = !whole || drop(text)
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

package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/pattern"
)

// leftHalf matches the name of a half-written file: the file that it was to become, the process,
// and a number.
var leftHalf = pattern.New(`^` + regexp.QuoteMeta(durable.TempPrefix) + `(.+)-[0-9]+-[0-9]+$`)

// recoverHalves deals with the half-written files that are left of writes which a kill cut short.
// Such a file holds what was to be written. If it had already changed names with its file, it holds
// what somebody had saved just then. A file with nothing that a person wrote is removed. A file
// with words that are missing in its file is kept beside it, under a name that people notice. If
// another node is writing at the same time, one of the two nodes writes again, and nothing that a
// person wrote is lost.
func (w writer) recoverHalves() (kept []string, err error) {
	var wrong []error
	err = fs.WalkDir(w.root.FS(), ".", func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			wrong = append(wrong, err)
			return nil
		}
		m := leftHalf.FindStringSubmatch(e.Name())
		switch {
		case e.IsDir() && strings.Count(at, "/") > 1: // below PARTNER/topics nothing is ours
			return fs.SkipDir
		case !e.IsDir() && m != nil:
			name := path.Join(path.Dir(at), m[1])
			aside, err := w.recoverHalf(at, name)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("cannot see to %s, which a write of %s left: %w", at, name, err))
			}
			if aside != "" {
				kept = append(kept, aside)
			}
		}
		return nil
	})
	return kept, errors.Join(append(wrong, err)...)
}

// recoverHalf removes a half-written file, or keeps it beside its file and returns its new name.
func (w writer) recoverHalf(half, name string) (aside string, err error) {
	if path.Ext(name) == ".json" || path.Base(name) == owner { // only parley writes these
		return "", w.root.Remove(half)
	}
	left, err := read(w.root, half)
	if err != nil {
		return "", err
	}
	file, err := read(w.root, name)
	if err != nil {
		return "", err
	}
	if !lacksWords(file, left) {
		return "", unlessMissing(w.root.Remove(half))
	}
	return setAside(w.root, half, name)
}

// lacksWords reports whether lines of `other`, another version of a file, are missing in the file.
// Lines that parley wrote do not matter.
func lacksWords(file, other []byte) bool {
	own, has := map[string]bool{}, map[string]bool{}
	for line := range bytes.Lines(file) {
		has[string(bytes.TrimSpace(line))] = true
	}
	for line := range bytes.Lines(other) {
		text := strings.TrimSpace(string(line))
		if m := beginning.FindStringSubmatch(text); m != nil {
			for _, hash := range strings.Fields(m[2]) {
				own[hash] = true
			}
			continue
		}
		said := text == "" || ending.MatchString(text) || own[lineHash(text)] || has[text] || strings.HasPrefix(text, notTakenIn)
		whole := bytes.HasSuffix(line, []byte("\n"))
		if !said && (whole || !bytes.Contains(file, line)) { // the last line may be cut short
			return true
		}
	}
	return false
}

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

// leftHalf is the name of a half-written file: the file that it was to be, the process, a
// number.
var leftHalf = pattern.New(`^` + regexp.QuoteMeta(durable.TempPrefix) + `(.+)-[0-9]+-[0-9]+$`)

// recoverHalves sees to what writes have left that a kill cut short. Such a file is what was
// to be written, or, where it had changed names with the file already, what somebody had
// saved just then. What nobody has written goes; words that the file lacks are kept beside it,
// under a name that shows. Where another node is writing just now, one of the two writes
// again, and nothing of a person's is lost.
func (w writer) recoverHalves() (kept []string, err error) {
	var wrong []error
	err = fs.WalkDir(w.root.FS(), ".", func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			wrong = append(wrong, err)
			return nil
		}
		m := leftHalf.FindStringSubmatch(e.Name())
		switch {
		case e.IsDir() && strings.Count(at, "/") > 1: // deeper than PARTNER/topics nothing is ours
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

// recoverHalf removes a half-written file, or keeps it beside its file.
func (w writer) recoverHalf(half, name string) (aside string, err error) {
	if path.Ext(name) == ".json" || path.Base(name) == owner { // parley's alone
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

// lacksWords reports whether a file lacks lines of another version of it that are not
// parley's own.
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
		if !said && (whole || !bytes.Contains(file, line)) { // the last one may be cut short
			return true
		}
	}
	return false
}

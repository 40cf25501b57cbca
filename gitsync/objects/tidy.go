package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// eachFile calls visit for what is in a folder and, with deep, below it. What goes
// meanwhile is passed over.
func eachFile(root string, deep bool, visit func(path string, d fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && path != root && !deep:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return visit(path, d)
	})
}

// removeTemps removes unfinished files: this program's at once, those of others
// when they are old. A push that was killed leaves a whole folder.
func (s *Store) removeTemps() ([]string, error) {
	var did []string
	for _, pattern := range []string{"tmp_parley_*", "objects/tmp_objdir-*", "objects/incoming-*", "objects/??/tmp_*",
		"objects/pack/tmp_*", "objects/pack/.tmp-*"} {
		paths, err := filepath.Glob(filepath.Join(s.dir, filepath.FromSlash(pattern)))
		if err != nil {
			return did, fmt.Errorf("cannot list unfinished files: %w", err)
		}
		for _, path := range paths {
			ours := strings.HasPrefix(filepath.Base(path), tempPrefix)
			info, err := os.Lstat(path)
			if err != nil || !ours && time.Since(info.ModTime()) < tempAge {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return did, fmt.Errorf("cannot remove an unfinished file: %w", err)
			}
			did = append(did, "removed the unfinished file "+filepath.Base(path))
		}
	}
	return did, nil
}

// Forget gives the packs of this program that are an hour old to the operator's
// gc, and removes unfinished files of that age. It is for a repository that others
// push to as well: who was killed there does not come back to tidy up.
func (s *Store) Forget() error {
	return eachFile(s.packDir(), false, func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil || time.Since(info.ModTime()) < tempAge {
			return nil
		}
		if strings.HasPrefix(d.Name(), tempPrefix) {
			return removeFile(path)
		}
		if base, ok := strings.CutSuffix(path, ".keep"); ok && isOurKeep(base) {
			return s.unkeep(base)
		}
		return nil
	})
}

// gitKeep is what git writes into the .keep of a pack that it receives, until a ref
// names what the pack holds.
var gitKeep = regexp.MustCompile(`^(fetch|receive)-pack [0-9]+ on `)

// forgetGitKeeps removes the .keep that a fetch or push of the git program left an
// hour ago, when it was killed. Nobody would ever join or repack such a pack.
func (s *Store) forgetGitKeeps() ([]string, error) {
	var did []string
	err := eachFile(s.packDir(), false, func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil || !strings.HasSuffix(path, ".keep") || time.Since(info.ModTime()) < tempAge {
			return nil
		}
		if text, err := os.ReadFile(path); err != nil || !gitKeep.Match(text) {
			return nil
		}
		did = append(did, "removed the forgotten "+d.Name())
		return removeFile(path)
	})
	return did, err
}

// isOurKeep reports whether a pack has the .keep that this program writes.
func isOurKeep(base string) bool {
	text, err := os.ReadFile(base + ".keep")
	return err == nil && strings.HasPrefix(string(text), keepText)
}

// removeEmptyObjects removes loose objects that a crash of the system left
// without any content: they hold nothing, and git would not write them again.
func (s *Store) removeEmptyObjects() ([]string, error) {
	removed := 0
	for first := range 256 {
		dir := filepath.Join(s.dir, "objects", fmt.Sprintf("%02x", first))
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
				continue
			}
			if err := removeFile(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
			removed++
		}
	}
	if removed == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("removed %d loose objects without content", removed)}, nil
}

package objects

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

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
func (w *Writer) Forget() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return eachFile(string(w.folder), false, func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil || time.Since(info.ModTime()) < tempAge {
			return nil
		}
		if strings.HasPrefix(d.Name(), tempPrefix) {
			return removeFile(path)
		}
		if base, ok := strings.CutSuffix(path, ".keep"); ok && isOurKeep(base) {
			return w.unkeep(base)
		}
		return nil
	})
}

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// FoldersIn makes the folder at `path` and the missing folders above it, as far as they are below
// `root`. It never makes `root`: a folder that somebody has removed does not come back because a
// program still works in it.
func FoldersIn(root, path string, mode fs.FileMode) error {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("cannot make %s: it is not in %s", path, root)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	at := root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		if err := os.Mkdir(at, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

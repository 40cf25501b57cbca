package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// dropStaleMultiIndex removes an index over many packs that names a pack which is gone: somebody
// wrote the index while the pack went. It also removes an index that cannot be read. It returns
// what it did.
func (f packFolder) dropStaleMultiIndex() ([]string, error) {
	paths, err := f.multiIndexes()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		names, err := pack.MultiIndexNames(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		stale := err != nil
		for name := range names {
			if _, err := os.Stat(filepath.Join(string(f), name+".pack")); errors.Is(err, fs.ErrNotExist) {
				stale = true
			}
		}
		if stale {
			return []string{"removed the index over many packs, which names one that is gone or cannot be read"}, f.removeMultiIndexes()
		}
	}
	return nil, nil
}

// multiIndexes returns the files of the index over many packs. That is one file, or a chain of
// files in a folder of their own.
func (f packFolder) multiIndexes() ([]string, error) {
	var all []string
	for _, pattern := range []string{"multi-pack-index", "multi-pack-index.d/*.midx"} {
		paths, err := filepath.Glob(filepath.Join(string(f), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("cannot look for an index over many packs: %w", err)
		}
		all = append(all, paths...)
	}
	return all, nil
}

// removeMultiIndexes removes all files of git's index over many packs, as is done before a pack goes.
// Git takes an object for lost if that index says that it is in a pack that is gone. Without that
// index, git looks into each pack's own index. Files that name the others go first.
func (f packFolder) removeMultiIndexes() error {
	for _, pattern := range []string{"multi-pack-index.d/multi-pack-index-chain", "multi-pack-index", "multi-pack-index.d/*", "multi-pack-index-*"} {
		paths, err := filepath.Glob(filepath.Join(string(f), filepath.FromSlash(pattern)))
		if err != nil {
			return fmt.Errorf("cannot look for an index over many packs: %w", err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, ".lock") {
				continue
			}
			if err := removeFile(path); err != nil {
				return fmt.Errorf("cannot remove the index over many packs: %w", err)
			}
		}
	}
	return nil
}

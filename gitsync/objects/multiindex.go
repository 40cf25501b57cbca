package objects

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxPackNames bounds what is read of the names in an index over many packs.
const maxPackNames = 16 << 20

// dropMultiIndex removes git's index over many packs if it names one of the packs,
// as "git repack -d" does: an object that it finds in a pack that is gone counts
// as lost. Without it, git looks into each pack's own index.
func (s *Store) dropMultiIndex(packs []string) error {
	paths, err := s.multiIndexes()
	if err != nil || len(paths) == 0 || len(packs) == 0 {
		return err
	}
	for _, path := range paths {
		names, err := multiIndexNames(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || slices.ContainsFunc(packs, func(base string) bool { return names[filepath.Base(base)] }) {
			return s.removeMultiIndexes() // nor is one of use that cannot be read
		}
	}
	return nil
}

// dropStaleMultiIndex removes an index over many packs that names one which is not
// there: somebody wrote it while the pack went.
func (s *Store) dropStaleMultiIndex() ([]string, error) {
	paths, err := s.multiIndexes()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		names, err := multiIndexNames(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		stale := err != nil
		for name := range names {
			if _, err := os.Stat(filepath.Join(s.packDir(), name+".pack")); errors.Is(err, fs.ErrNotExist) {
				stale = true
			}
		}
		if stale {
			return []string{"removed the index over many packs, which names one that is gone"}, s.removeMultiIndexes()
		}
	}
	return nil, nil
}

// multiIndexes are the files of the index over many packs: one, or a chain in a
// folder of their own.
func (s *Store) multiIndexes() ([]string, error) {
	var all []string
	for _, pattern := range []string{"multi-pack-index", "multi-pack-index.d/*.midx"} {
		paths, err := filepath.Glob(filepath.Join(s.packDir(), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("cannot look for an index over many packs: %w", err)
		}
		all = append(all, paths...)
	}
	return all, nil
}

// removeMultiIndexes removes what names the others first.
func (s *Store) removeMultiIndexes() error {
	for _, pattern := range []string{"multi-pack-index.d/multi-pack-index-chain", "multi-pack-index", "multi-pack-index.d/*", "multi-pack-index-*"} {
		paths, err := filepath.Glob(filepath.Join(s.packDir(), filepath.FromSlash(pattern)))
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

// multiIndexNames are the packs, without ending, that such an index is made of.
func multiIndexNames(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the index over many packs: %w", err)
	}
	defer func() { _ = f.Close() }()
	return decodeMultiIndex(f)
}

// decodeMultiIndex reads the chunk PNAM of the format that git describes in
// gitformat-pack.
func decodeMultiIndex(r io.ReaderAt) (map[string]bool, error) {
	head := make([]byte, 12)
	if _, err := r.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, []byte("MIDX\x01")) {
		return nil, fmt.Errorf("%w: no index over many packs of version 1", errCorrupt)
	}
	table := make([]byte, 12*(int(head[6])+1))
	if _, err := r.ReadAt(table, 12); err != nil {
		return nil, fmt.Errorf("%w: an index over many packs is too short", errCorrupt)
	}
	for ; len(table) > 12; table = table[12:] {
		if string(table[:4]) != "PNAM" {
			continue
		}
		from, to := binary.BigEndian.Uint64(table[4:]), binary.BigEndian.Uint64(table[16:])
		if to < from || to-from > maxPackNames || to > 1<<62 {
			return nil, fmt.Errorf("%w: an index over many packs has a chunk of %d bytes", errCorrupt, to-from)
		}
		data := make([]byte, to-from)
		if _, err := r.ReadAt(data, int64(from)); err != nil {
			return nil, fmt.Errorf("%w: an index over many packs is too short", errCorrupt)
		}
		names := map[string]bool{}
		for name := range bytes.SplitSeq(data, []byte{0}) {
			if len(name) > 0 {
				names[strings.TrimSuffix(strings.TrimSuffix(string(name), ".idx"), ".pack")] = true
			}
		}
		return names, nil
	}
	return nil, fmt.Errorf("%w: an index over many packs names none", errCorrupt)
}

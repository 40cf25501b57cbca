package objects

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/internal/durable"
)

// TakePacks moves all packs of another repository on the same disk, which nobody
// uses, into this one. One that has the name of a pack which is here takes its place:
// it has the same content, and the other may be damaged.
func (s *Store) TakePacks(other *Store) error {
	if err := errors.Join(other.Seal(), other.packs.rescan()); err != nil {
		return fmt.Errorf("cannot take over packs: %w", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, p := range other.packs.all() {
		base := filepath.Join(string(s.folder), filepath.Base(p.Base))
		if err := writeAtomically(base+".keep", []byte(keepText)); err != nil {
			return fmt.Errorf("cannot take over a pack: %w", err)
		}
		s.received = append(s.received, base)
		s.kept[base] = true
		for _, ending := range []string{".pack", ".idx"} {
			if err := os.Rename(p.Base+ending, base+ending); err != nil {
				return fmt.Errorf("cannot take over a pack: %w", err)
			}
		}
	}
	if err := durable.Folder(string(s.folder)); err != nil {
		return fmt.Errorf("cannot take over packs: %w", err)
	}
	return s.packs.rescan()
}

// PackAll is a pack of a commit, its tree and all below that, and none of what the
// commit follows. The error is a *LargeError where they have more than most bytes.
func (s *Store) PackAll(commit Hash, most int) ([]byte, error) {
	m := missing{store: s, builder: &Builder{}, most: most}
	c, err := s.CommitAt(commit)
	if err != nil {
		return nil, err
	}
	data, err := s.typed(commit, plumbing.CommitObject)
	if err != nil {
		return nil, err
	}
	if err := m.tree(c.Tree, Zero); err != nil {
		return nil, err
	}
	m.add(plumbing.CommitObject, data)
	return packOf(m.builder)
}

// SealedPacks are the names and sizes of the packs that stay as they are: all but the
// rolling one, those that are about to be removed and the damaged ones.
func (s *Store) SealedPacks() map[string]int64 {
	s.writing.Lock()
	passing := s.passing()
	s.writing.Unlock()
	all := map[string]int64{}
	for _, p := range s.packs.all() {
		if !passing[p.Base] && !s.packs.isDamaged(p.Base) {
			all[filepath.Base(p.Base)] = p.Size()
		}
	}
	return all
}

// WholePacks are the names and sizes of the packs that are there to their end.
func (s *Store) WholePacks() map[string]int64 {
	all := map[string]int64{}
	for _, p := range s.packs.all() {
		if p.Whole {
			all[filepath.Base(p.Base)] = p.Size()
		}
	}
	return all
}

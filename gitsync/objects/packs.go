package objects

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// Rescan makes packs known that another program installed since.
func (s *Store) Rescan() error { return s.rescan() }

// rescan reads the pack folder again; indexes that it knows are kept.
func (s *Store) rescan() error {
	names, err := os.ReadDir(s.packDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot list packs: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make(map[string]*pack.Pack, len(s.packs))
	for _, p := range s.packs {
		known[p.Base] = p
	}
	var packs []*pack.Pack
	for _, entry := range names {
		base, ok := strings.CutSuffix(entry.Name(), ".idx")
		if !ok {
			continue
		}
		base = filepath.Join(s.packDir(), base)
		if s.leaving[base] {
			continue
		}
		if p := known[base]; p != nil && p.IsStill(entry) {
			packs = append(packs, p)
			continue
		}
		p, err := pack.Open(base)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				s.log.Warn().Err(err).Msg("a pack of the record is left out")
			}
			continue
		}
		packs = append(packs, p)
	}
	slices.SortStableFunc(packs, newestFirst)
	s.noteGone(packs)
	s.packs = packs
	return nil
}

func newestFirst(a, b *pack.Pack) int { return b.Modified.Compare(a.Modified) }

// addPack makes a pack that was just installed known, without reading the folder.
func (s *Store) addPack(base string) error {
	p, err := pack.Open(base)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packs = append([]*pack.Pack{p}, s.packs...)
	slices.SortStableFunc(s.packs, newestFirst)
	return nil
}

// dropPack forgets a pack whose objects are all elsewhere while remove removes its
// files, which is nothing that Shaken would tell of.
func (s *Store) dropPack(base string, remove func() error) error {
	s.mu.Lock()
	s.leaving[base] = true
	s.packs = slices.DeleteFunc(slices.Clone(s.packs), func(p *pack.Pack) bool { return p.Base == base })
	s.mu.Unlock()
	err := remove()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leaving, base)
	delete(s.replaced, base)
	return err
}

// replace notes that the objects of a pack are all in a newer one.
func (s *Store) replace(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replaced[base] = true
}

// packNames lists the packs on disk by their paths without ending, sorted.
func (s *Store) packNames(ending string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(s.packDir(), "pack-*"+ending))
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ending)
	}
	slices.SortFunc(names, cmp.Compare)
	return names, nil
}

package objects

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// takeDamaged returns the packs that were found damaged since its last call. The rolling pack and
// the retired ones wait for a later call, because most of them are about to be replaced anyway.
func (w *Writer) takeDamaged() []*pack.Pack {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.packs.takeDamaged(func(base string) bool {
		return w.rolling != nil && w.rolling.base == base ||
			slices.ContainsFunc(w.retired, func(r retired) bool { return r.base == base })
	})
}

// ReplaceDamaged replaces packs in which damage was found. Once good copies of all objects of such
// a pack are there, a pack of these copies takes its place. The damaged pack is put aside, under a
// name that git does not look at. ReplaceDamaged returns what it did, a sentence for each pack.
func (s *Store) ReplaceDamaged() ([]string, error) {
	var did []string
	for _, p := range s.Writer.takeDamaged() {
		name := filepath.Base(p.Base)
		if err := s.copyPack(p); err != nil {
			did = append(did, fmt.Sprintf("the damaged pack %s stays, because a part of it is nowhere else: %v", name, err))
			continue
		}
		if err := s.packs.drop(p.Base, func() error { return s.folder.putAside(p.Base) }); err != nil {
			return did, fmt.Errorf("cannot put a damaged pack aside: %w", err)
		}
		did = append(did, "replaced the damaged pack "+name+"; it is kept as damaged-"+name+".pack")
	}
	return did, nil
}

// copyPack installs copies of all objects of a pack, as one pack or several.
func (s *Store) copyPack(p *pack.Pack) error {
	var names []Hash
	if err := p.Names(func(h Hash) { names = append(names, h) }); err != nil {
		return err
	}
	s.Hold()
	copied := missing{store: s, builder: &Builder{}, take: func(b *Builder) error {
		data, err := packOf(b)
		if err != nil {
			return err
		}
		return s.InstallPack(bytes.NewReader(data))
	}}
	for _, h := range names {
		typ, data, err := s.read(h, pack.MaxObject, true)
		if err != nil {
			return errors.Join(err, s.Release())
		}
		copied.add(typ, data)
		if copied.size > transferBytes {
			if err := copied.flush(); err != nil {
				return errors.Join(err, s.Release())
			}
		}
	}
	return errors.Join(copied.flush(), s.Release())
}

// packOf returns the builder's objects as one pack.
func packOf(b *Builder) ([]byte, error) {
	all, err := new(rolling).with(b, pack.NewWriter(nil))
	if err != nil {
		return nil, err
	}
	data, _, _ := pack.Encode(all.body, all.entries)
	return data, nil
}

// below returns the path of a file below the repository at dir, as git writes it.
func below(dir, path string) string {
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, dir)), "/")
}

package objects

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
)

// hashOf is the name of an object.
func hashOf(typ plumbing.ObjectType, data []byte) Hash {
	sum := sha1.New()
	sum.Write(append(strconv.AppendInt(append(typ.Bytes(), ' '), int64(len(data)), 10), 0))
	sum.Write(data)
	return Hash(sum.Sum(nil))
}

// PutLoose makes an object durable as a file of its own, in place of a damaged one.
func (s *Store) PutLoose(typ plumbing.ObjectType, data []byte) error {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, err := fmt.Fprintf(z, "%s %d\x00", typ, len(data))
	if err == nil {
		_, err = z.Write(data)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("cannot compress: %w", err)
	}
	name := hashOf(typ, data).String()
	dir := filepath.Join(s.dir, "objects", name[:2])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot write a loose object: %w", err)
	}
	return WriteFile(filepath.Join(dir, name[2:]), out.Bytes())
}

func (s *Store) noteDamaged(p *pack.Pack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damaged == nil {
		s.damaged = map[string]bool{}
	}
	if _, known := s.damaged[p.Base]; !known {
		s.damaged[p.Base] = true
		s.log.Warn().Str("pack", filepath.Base(p.Base)).Msg("a pack of the record is damaged")
	}
}

// takeDamaged are the packs that were found damaged since it was last called, but
// for those that are about to be replaced anyway. The caller holds writing.
func (s *Store) takeDamaged() []*pack.Pack {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*pack.Pack
	for _, p := range s.packs {
		passing := s.rolling != nil && s.rolling.base == p.Base ||
			slices.ContainsFunc(s.retired, func(r retired) bool { return r.base == p.Base })
		if s.damaged[p.Base] && !passing {
			s.damaged[p.Base] = false // once
			found = append(found, p)
		}
	}
	return found
}

// ReplaceDamaged puts packs in which damage was found aside, under a name that git
// does not look at, and another in the place of each with the same objects, once
// good copies of all of them are there. It returns what it did, a sentence each.
func (s *Store) ReplaceDamaged() ([]string, error) {
	s.writing.Lock()
	packs := s.takeDamaged()
	s.writing.Unlock()
	var did []string
	for _, p := range packs {
		name := filepath.Base(p.Base)
		if err := s.copyPack(p); err != nil {
			did = append(did, fmt.Sprintf("the damaged pack %s stays, because a part of it is nowhere else: %v", name, err))
			continue
		}
		if err := s.dropPack(p.Base, func() error { return s.putAside(p) }); err != nil {
			return did, fmt.Errorf("cannot put a damaged pack aside: %w", err)
		}
		did = append(did, "replaced the damaged pack "+name+"; it is kept as damaged-"+name+".pack")
	}
	return did, nil
}

// copyPack installs a pack, or several, with all objects of another.
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
		typ, data, err := s.read(h, true)
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

// packOf is the builder's objects as one pack.
func packOf(b *Builder) ([]byte, error) {
	all, err := new(rolling).with(b)
	if err != nil {
		return nil, err
	}
	data, _, _ := pack.Encode(all.body, all.entries)
	return data, nil
}

func (s *Store) putAside(p *pack.Pack) error {
	aside := filepath.Join(s.packDir(), "damaged-"+filepath.Base(p.Base)+".pack")
	if err := errors.Join(s.dropMultiIndex([]string{p.Base}), removeFile(p.Base+".idx")); err != nil {
		return err
	}
	if err := os.Rename(p.Base+".pack", aside); err != nil {
		return err
	}
	for _, ending := range []string{".rev", ".bitmap", ".keep"} {
		if err := removeFile(p.Base + ending); err != nil {
			return err
		}
	}
	return durable.Folder(s.packDir())
}

// below is a path below a repository, as git writes it.
func below(dir, path string) string {
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, dir)), "/")
}

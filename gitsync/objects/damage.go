package objects

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
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

func (s *Store) noteDamaged(p *pack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damaged == nil {
		s.damaged = map[string]bool{}
	}
	if _, known := s.damaged[p.base]; !known {
		s.damaged[p.base] = true
		s.log.Warn().Str("pack", filepath.Base(p.base)).Msg("a pack of the record is damaged")
	}
}

// takeDamaged are the packs that were found damaged since it was last called, but
// for those that are about to be replaced anyway. The caller holds writing.
func (s *Store) takeDamaged() []*pack {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*pack
	for _, p := range s.packs {
		passing := s.rolling != nil && s.rolling.base == p.base ||
			slices.ContainsFunc(s.retired, func(r retired) bool { return r.base == p.base })
		if s.damaged[p.base] && !passing {
			s.damaged[p.base] = false // once
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
		name := filepath.Base(p.base)
		if err := s.copyPack(p); err != nil {
			did = append(did, fmt.Sprintf("the damaged pack %s stays, because a part of it is nowhere else: %v", name, err))
			continue
		}
		if err := s.putAside(p); err != nil {
			return did, fmt.Errorf("cannot put a damaged pack aside: %w", err)
		}
		did = append(did, "replaced the damaged pack "+name+"; it is kept as damaged-"+name+".pack")
	}
	return did, nil
}

// copyPack installs a pack, or several, with all objects of another.
func (s *Store) copyPack(p *pack) error {
	var names []Hash
	if err := p.names(func(h Hash) { names = append(names, h) }); err != nil {
		return err
	}
	s.Hold()
	copied := missing{store: s, builder: &Builder{}, take: func(b *Builder) error {
		pack, err := packOf(b)
		if err != nil {
			return err
		}
		return s.InstallPack(bytes.NewReader(pack))
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
	pack, _, _ := all.encode()
	return pack, nil
}

func (s *Store) putAside(p *pack) error {
	aside := filepath.Join(s.packDir(), "damaged-"+filepath.Base(p.base)+".pack")
	s.dropPack(p.base)
	if err := errors.Join(s.dropMultiIndex([]string{p.base}), removeFile(p.base+".idx")); err != nil {
		return err
	}
	if err := os.Rename(p.base+".pack", aside); err != nil {
		return err
	}
	for _, ending := range []string{".rev", ".bitmap", ".keep"} {
		if err := removeFile(p.base + ending); err != nil {
			return err
		}
	}
	return syncDir(s.packDir())
}

// Damage is something that is wrong with the files of a repository.
type Damage struct {
	File   string // below the repository
	Object Hash   // Zero where it is not about one object
	Text   string
}

// Check reads every pack, index and loose object and calls found for what is
// damaged in them. It heals nothing.
func (s *Store) Check(ctx context.Context, found func(Damage)) error {
	if err := s.rescan(); err != nil {
		return err
	}
	s.mu.RLock()
	packs := s.packs
	s.mu.RUnlock()
	for _, p := range packs {
		if err := s.checkPack(ctx, p, found); err != nil {
			return fmt.Errorf("cannot check the packs: %w", err)
		}
	}
	paths, err := filepath.Glob(filepath.Join(s.dir, "objects", "??", "*"))
	if err != nil {
		return fmt.Errorf("cannot check the loose objects: %w", err)
	}
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path)) + filepath.Base(path)
		if !plumbing.IsHash(name) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		h := plumbing.NewHash(name)
		typ, data, err := readLoose(s.dir, h)
		if errors.Is(err, ErrNotFound) || err == nil && hashOf(typ, data) == h || isLarge(err) {
			continue
		}
		found(Damage{File: s.below(path), Object: h, Text: "the loose object is damaged"})
	}
	return nil
}

func (s *Store) checkPack(ctx context.Context, p *pack, found func(Damage)) error {
	if err := checkIndex(p.base); errors.Is(err, errCorrupt) {
		found(Damage{File: s.below(p.base + ".idx"), Text: err.Error()})
	}
	sum, err := fileSum(p.base + ".pack")
	if errors.Is(err, os.ErrNotExist) {
		return nil // replaced meanwhile
	}
	if err != nil {
		return err
	}
	if sum != nil {
		found(Damage{File: s.below(p.base + ".pack"), Text: "its check sum is wrong"})
		s.noteDamaged(p)
	}
	var names []Hash
	if err := p.names(func(h Hash) { names = append(names, h) }); err != nil {
		return err
	}
	for _, h := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		offset, ok, err := p.find(h)
		if err == nil && ok {
			var typ plumbing.ObjectType
			var data []byte
			typ, data, err = p.read(offset, s.readOnce)
			if err == nil && hashOf(typ, data) == h || errors.Is(err, os.ErrNotExist) || isLarge(err) {
				continue
			}
		}
		found(Damage{File: s.below(p.base + ".pack"), Object: h, Text: fmt.Sprintf("object %s in it is damaged", h)})
	}
	return nil
}

func (s *Store) below(path string) string {
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, s.dir)), "/")
}

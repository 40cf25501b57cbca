package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	// lockAge is how long a ref's lock may stand unchanged before it counts as
	// left behind; git itself waits 100 ms for one.
	lockAge = 250 * time.Millisecond
	// tempAge is how old an unfinished pack of the git program must be before
	// it counts as left behind.
	tempAge = time.Hour
)

// Repair puts right what a crash leaves behind: a ref's lock, temporary files,
// loose objects without content, replaced packs, packs without an index. Call it before
// anything else of this program uses the repository. It returns what it did, a
// sentence each.
func (s *Store) Repair(refs ...string) ([]string, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	var did []string
	for _, step := range []func() ([]string, error){
		func() ([]string, error) { return s.removeLocks(refs) },
		s.removeTemps,
		s.removeEmptyObjects,
		s.indexPacks,
		s.removeReplaced,
	} {
		done, err := step()
		did = append(did, done...)
		if err != nil {
			return did, fmt.Errorf("cannot repair the record: %w", err)
		}
	}
	return did, s.rescan()
}

func (s *Store) removeLocks(refs []string) ([]string, error) {
	var did []string
	for _, ref := range refs {
		removed, err := s.RemoveStaleLock(ref)
		if err != nil {
			return did, err
		}
		if removed {
			did = append(did, "removed the stale lock of "+ref)
		}
	}
	return did, nil
}

// RemoveStaleLock removes the lock of a ref if it stands for a while unchanged,
// much longer than anybody needs one. It is for a lock that a killed program may
// have left.
func (s *Store) RemoveStaleLock(ref string) (removed bool, err error) {
	path := filepath.Join(s.dir, filepath.FromSlash(ref)+".lock")
	before, err := os.Stat(path)
	if err != nil {
		return false, nil
	}
	deadline := time.Now().Add(lockAge)
	for time.Now().Before(deadline) {
		time.Sleep(lockPause)
		if now, err := os.Stat(path); err != nil || !os.SameFile(before, now) {
			return false, nil
		}
	}
	return true, removeFile(path)
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

func (s *Store) removeTemps() ([]string, error) {
	names, err := os.ReadDir(s.packDir())
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	var did []string
	for _, entry := range names {
		ours := strings.HasPrefix(entry.Name(), "tmp_parley_")
		info, err := entry.Info()
		if err != nil || !ours && (!strings.HasPrefix(entry.Name(), "tmp_") || time.Since(info.ModTime()) < tempAge) {
			continue
		}
		if err := removeFile(filepath.Join(s.packDir(), entry.Name())); err != nil {
			return did, err
		}
		did = append(did, "removed the unfinished file "+entry.Name())
	}
	return did, nil
}

// removeReplaced looks at the packs that this program kept. Those whose objects
// are all in another kept pack were about to be removed; the others are sealed.
func (s *Store) removeReplaced() ([]string, error) {
	bases, err := s.packNames(".keep")
	if err != nil {
		return nil, err
	}
	var did []string
	packs := map[string]*pack{}
	for _, base := range bases {
		text, err := os.ReadFile(base + ".keep")
		if err != nil || string(text) != keepText {
			continue
		}
		p, err := openPack(base)
		if err == nil {
			packs[base] = p
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return did, err
		}
		if _, err := os.Stat(base + ".pack"); errors.Is(err, fs.ErrNotExist) {
			if err := removeFile(base + ".keep"); err != nil {
				return did, err
			}
		}
	}
	for base, p := range packs {
		replaced, err := coveredByAnother(p, packs)
		if err != nil {
			return did, err
		}
		if !replaced {
			continue
		}
		delete(packs, base)
		if err := removePack(base); err != nil {
			return did, err
		}
		did = append(did, "removed the replaced pack "+filepath.Base(base))
	}
	// Not before all of the others are gone: see Install.
	for base := range packs {
		if err := unkeep(base); err != nil {
			return did, err
		}
	}
	return did, nil
}

func coveredByAnother(p *pack, packs map[string]*pack) (bool, error) {
	for _, other := range packs {
		if other == p || other.count < p.count {
			continue
		}
		missing := false
		err := p.names(func(h Hash) {
			if _, ok, err := other.find(h); err != nil || !ok {
				missing = true
			}
		})
		if err != nil || !missing {
			return !missing, err
		}
	}
	return false, nil
}

// indexPacks writes the index of packs that have none. A pack that cannot be
// read to its end is set aside under a name that git does not look at.
func (s *Store) indexPacks() ([]string, error) {
	bases, err := s.packNames(".pack")
	if err != nil {
		return nil, err
	}
	var did []string
	for _, base := range bases {
		info, err := os.Stat(base + ".pack")
		if err != nil {
			continue
		}
		if _, err := os.Stat(base + ".idx"); err == nil || time.Since(info.ModTime()) < lockAge {
			continue
		}
		idx, err := indexOf(base + ".pack")
		if err != nil {
			aside := filepath.Join(s.packDir(), "torn-"+filepath.Base(base))
			if err := os.Rename(base+".pack", aside); err != nil {
				return did, fmt.Errorf("cannot set a torn pack aside: %w", err)
			}
			did = append(did, "set the torn pack "+filepath.Base(base)+" aside")
			continue
		}
		if err := writeAtomically(base+".idx", idx); err != nil {
			return did, err
		}
		did = append(did, "wrote the missing index of "+filepath.Base(base))
	}
	return did, syncDir(s.packDir())
}

func indexOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	index := new(idxfile.Writer)
	parser, err := packfile.NewParser(packfile.NewScanner(f), index)
	if err != nil {
		return nil, fmt.Errorf("cannot read a pack: %w", err)
	}
	if _, err := parser.Parse(); err != nil {
		return nil, fmt.Errorf("cannot read a pack: %w", err)
	}
	memory, err := index.Index()
	if err != nil {
		return nil, fmt.Errorf("cannot index a pack: %w", err)
	}
	var out bytes.Buffer
	if _, err := idxfile.NewEncoder(&out).Encode(memory); err != nil {
		return nil, fmt.Errorf("cannot index a pack: %w", err)
	}
	return out.Bytes(), nil
}

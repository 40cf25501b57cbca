package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// footing is what the objects of a store lie on besides its packs: the loose
// objects, by folder. Somebody may remove files under a running program, which goes
// on with what it remembers of them and would notice only when it reads them. So
// before anything is given up because it is in this store, Shaken looks whether the
// files are still those that it knows.
type footing struct {
	// Guarded by the store's mu.
	shaken   string          // what was seen to be gone, "" where nothing was
	replaced map[string]bool // packs whose objects are all in newer ones, and that go soon
	leaving  map[string]bool // those of them that the store removes just now

	looking   sync.Mutex          // guards what follows
	looseRoot time.Time           // when a folder of loose objects last came or went
	listed    map[string]looseDir // by the two digits that name a folder
}

// looseDir is what a folder of loose objects held when it was last listed.
type looseDir struct {
	modified time.Time
	names    []Hash
}

// Shaken says what was removed or changed behind the store's back since Settle, ""
// where nothing was. It looks at the packs and at the folders of loose objects, not
// into them: that costs one look at the names of some files, however large the record
// is. An index that is gone loses nothing, because its pack says the same.
func (s *Store) Shaken() (string, error) {
	s.mu.RLock()
	packs, moved := s.packs, s.shaken != ""
	for _, p := range packs {
		moved = moved || !s.replaced[p.Base] && !p.IsThere()
	}
	s.mu.RUnlock()
	if moved {
		if err := s.rescan(); err != nil {
			return "", err
		}
	}
	if err := s.lookAtLoose(); err != nil {
		return "", err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.shaken, nil
}

// Settle has Shaken forget what it has seen: somebody looked, and all that is needed
// is there.
func (s *Store) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shaken = ""
}

// Fresh reads a commit and its tree from the files, whatever is remembered of them.
func (s *Store) Fresh(commit Hash) error {
	_, data, err := s.readOnce(commit)
	if err != nil {
		return fmt.Errorf("cannot read commit %s: %w", commit, err)
	}
	c, err := decodeCommit(data)
	if err == nil && c.Tree != emptyTree {
		_, _, err = s.readOnce(c.Tree)
	}
	if err != nil {
		return fmt.Errorf("cannot read the tree of commit %s: %w", commit, err)
	}
	return nil
}

// shake notes that something is gone. The caller holds mu.
func (s *Store) shake(format string, args ...any) {
	if s.shaken == "" {
		s.shaken = fmt.Sprintf(format, args...)
	}
}

// noteGone notes which of the packs that were known are not among those that are
// there now, or are other files. Those that the store itself removes do not count.
// The caller holds mu.
func (s *Store) noteGone(now []*pack.Pack) {
	still := make(map[string]*pack.Pack, len(now))
	for _, p := range now {
		still[p.Base] = p
	}
	for _, p := range s.packs {
		name := filepath.Base(p.Base)
		switch next := still[p.Base]; {
		case s.leaving[p.Base] || s.replaced[p.Base]:
		case next == nil:
			s.shake("the pack %s is gone", name)
		case next != p && p.Whole && !next.Whole:
			s.shake("the pack %s is damaged", name)
		}
	}
}

// lookAtLoose lists the folders of loose objects that changed since they were last
// listed. What is gone from one must be in a pack.
func (s *Store) lookAtLoose() error {
	s.looking.Lock()
	defer s.looking.Unlock()
	names, err := s.looseDirs()
	if err != nil {
		return err
	}
	for _, name := range names {
		known := s.listed[name]
		info, err := os.Stat(filepath.Join(s.dir, "objects", name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("cannot look at the loose objects: %w", err)
		case info.ModTime().Equal(known.modified):
			continue
		default:
			known.modified = info.ModTime()
		}
		if err := s.listLoose(name, known); err != nil {
			return err
		}
	}
	return nil
}

// looseDirs are the folders of loose objects that are there or were. They are listed
// again where one came or went. The caller holds looking.
func (s *Store) looseDirs() ([]string, error) {
	root := filepath.Join(s.dir, "objects")
	info, err := os.Stat(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	names := slices.Collect(maps.Keys(s.listed))
	if err != nil || info.ModTime().Equal(s.looseRoot) {
		return names, nil
	}
	s.looseRoot = info.ModTime()
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	for _, e := range entries {
		if _, known := s.listed[e.Name()]; !known && e.IsDir() && len(e.Name()) == 2 && plumbing.IsHash(e.Name()+emptyTree.String()[2:]) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// listLoose lists one folder of loose objects and compares it with what was there.
// The caller holds looking.
func (s *Store) listLoose(name string, known looseDir) error {
	entries, err := os.ReadDir(filepath.Join(s.dir, "objects", name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	now := looseDir{modified: known.modified}
	still := map[Hash]bool{}
	for _, e := range entries {
		if hex := name + e.Name(); plumbing.IsHash(hex) {
			h := plumbing.NewHash(hex)
			now.names = append(now.names, h)
			still[h] = true
		}
	}
	for _, h := range known.names {
		if !still[h] && !s.Has(h) {
			s.mu.Lock()
			s.shake("the loose object %s is gone", h)
			s.mu.Unlock()
		}
	}
	if s.listed == nil {
		s.listed = map[string]looseDir{}
	}
	if s.listed[name] = now; err != nil {
		delete(s.listed, name) // the folder is gone
	}
	return nil
}

// Has reports whether an object is in a pack that is there to its end, or in a file
// of its own. It does not read it.
func (s *Store) Has(h Hash) bool {
	s.mu.RLock()
	packs := s.packs
	s.mu.RUnlock()
	for _, p := range packs {
		if !p.Whole {
			continue
		}
		if _, ok, err := p.Find(h); err == nil && ok {
			return true
		}
	}
	name := h.String()
	info, err := os.Stat(filepath.Join(s.dir, "objects", name[:2], name[2:]))
	return err == nil && info.Size() > 0
}

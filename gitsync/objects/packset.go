package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/shortage"
)

// packSet knows the packs of a folder, and what became of packs that it knew before. Somebody may
// remove packs under a running program. The program then goes on with what it remembers of their
// indexes. Packs that it removes itself are no loss, because newer packs have all that is in them.
type packSet struct {
	folder    packFolder
	log       zerolog.Logger
	inflaters sync.Pool // of *pack.Inflater: to make one takes longer than to read a message

	mu       sync.RWMutex    // guards all below
	known    []*pack.Pack    // newest first. The slice is replaced, never changed
	damaged  map[string]bool // packs with something unreadable. false: takeDamaged has returned it
	replaced map[string]bool // packs that go soon, because newer ones have all their objects
	leaving  map[string]bool // packs that this program removes or puts aside at this moment
	shaken   string          // what was first seen to be gone or damaged, "" if nothing was
}

func newPackSet(folder packFolder, log zerolog.Logger) *packSet {
	return &packSet{folder: folder, log: log, damaged: map[string]bool{}, replaced: map[string]bool{}, leaving: map[string]bool{}}
}

// all returns the known packs, the newest first.
func (s *packSet) all() []*pack.Pack {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known
}

// rescan reads the folder again. It keeps the indexes that it knows, if their files have not
// changed.
func (s *packSet) rescan() error {
	names, err := os.ReadDir(string(s.folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot list packs: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make(map[string]*pack.Pack, len(s.known))
	for _, p := range s.known {
		known[p.Base] = p
	}
	var packs []*pack.Pack
	for _, entry := range names {
		base, ok := strings.CutSuffix(entry.Name(), ".idx")
		if !ok {
			continue
		}
		base = filepath.Join(string(s.folder), base)
		if s.leaving[base] {
			continue
		}
		if p := known[base]; p != nil && p.IsStill(entry) {
			packs = append(packs, p)
			continue
		}
		p, err := pack.Open(base)
		if shortage.Is(err) { // that says nothing about the pack
			return fmt.Errorf("cannot open a pack: %w", err)
		}
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
	s.known = packs
	return nil
}

func newestFirst(a, b *pack.Pack) int { return b.Modified.Compare(a.Modified) }

// noteGone notes which of the known packs are not among those that are there now, or were whole and
// are no longer. Packs that this program removes itself do not count. The caller holds mu.
func (s *packSet) noteGone(now []*pack.Pack) {
	still := make(map[string]*pack.Pack, len(now))
	for _, p := range now {
		still[p.Base] = p
	}
	for _, p := range s.known {
		name := filepath.Base(p.Base)
		switch next := still[p.Base]; {
		case s.leaving[p.Base] || s.replaced[p.Base]:
		case next == nil:
			s.shakeLocked("the pack %s is gone", name)
		case next != p && p.Whole && !next.Whole:
			s.shakeLocked("the pack %s is damaged", name)
		}
	}
}

// look checks whether the packs are still the files that were opened. If one is not, or if a loss
// is noted already, it reads the folder again. An index that is gone loses nothing, because its
// pack says the same.
func (s *packSet) look() error {
	s.mu.RLock()
	moved := s.shaken != ""
	for _, p := range s.known {
		moved = moved || !s.replaced[p.Base] && !p.IsThere()
	}
	s.mu.RUnlock()
	if !moved {
		return nil
	}
	return s.rescan()
}

// shake notes that something of the repository is gone or damaged.
func (s *packSet) shake(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shakeLocked(format, args...)
}

// shakeLocked is shake for a caller that holds mu.
func (s *packSet) shakeLocked(format string, args ...any) {
	if s.shaken == "" {
		s.shaken = fmt.Sprintf(format, args...)
	}
}

// lost returns what was first seen to be gone or damaged since settle, or "" if nothing was.
func (s *packSet) lost() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.shaken
}

// settle forgets what was seen to be gone or damaged.
func (s *packSet) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shaken = ""
}

// add makes a pack known that was just installed. It does not read the folder.
func (s *packSet) add(base string) error {
	p, err := pack.Open(base)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = append([]*pack.Pack{p}, s.known...)
	slices.SortStableFunc(s.known, newestFirst)
	return nil
}

// drop forgets a pack whose objects are all elsewhere, and calls remove, which takes the pack's
// files away. Meanwhile their absence counts as no loss.
func (s *packSet) drop(base string, remove func() error) error {
	s.mu.Lock()
	s.leaving[base] = true
	s.known = slices.DeleteFunc(slices.Clone(s.known), func(p *pack.Pack) bool { return p.Base == base })
	s.mu.Unlock()
	err := remove()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leaving, base)
	delete(s.replaced, base)
	return err
}

func (s *packSet) replace(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replaced[base] = true
}

// mended notes that a pack that was found damaged is whole now.
func (s *packSet) mended(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.damaged, base)
}

func (s *packSet) noteDamaged(p *pack.Pack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.damaged[p.Base]; !known {
		s.damaged[p.Base] = true
		s.log.Warn().Str("pack", filepath.Base(p.Base)).Msg("a pack of the record is damaged")
	}
}

func (s *packSet) isDamaged(base string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.damaged[base]
	return ok
}

// takeDamaged returns the packs that were found damaged since its last call. Packs for which pass
// returns true wait for a later call.
func (s *packSet) takeDamaged(pass func(base string) bool) []*pack.Pack {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*pack.Pack
	for _, p := range s.known {
		if s.damaged[p.Base] && !pass(p.Base) {
			s.damaged[p.Base] = false // once
			found = append(found, p)
		}
	}
	return found
}

// has reports whether an object is in a pack that is there to its end. The error says that the
// system is too short of something to tell.
func (s *packSet) has(h Hash) (ok bool, short error) {
	for _, p := range s.all() {
		if !p.Whole {
			continue
		}
		if _, ok, err := p.Find(h); err == nil && ok {
			return true, nil
		} else if shortage.Is(err) {
			short = err
		}
	}
	return false, short
}

// read looks for a good copy of an object in all packs. The error is ErrNotFound if no pack has the
// object, and a *LargeError if it has more than most bytes. other reads the bases of its deltas that
// are not in the same pack.
func (s *packSet) read(h Hash, most int64, other pack.ReadFunc) (plumbing.ObjectType, []byte, error) {
	inflater, ok := s.inflaters.Get().(*pack.Inflater)
	if !ok {
		inflater = pack.NewInflater()
	}
	defer s.inflaters.Put(inflater)
	err := ErrNotFound
	for _, p := range s.all() {
		offset, ok, findErr := p.Find(h)
		if findErr != nil {
			err = findErr
			continue
		}
		if !ok {
			continue
		}
		typ, data, readErr := p.Read(offset, most, other, inflater)
		if readErr == nil && hashOf(typ, data) != h {
			readErr = fmt.Errorf("%w: %s.pack has another object at %d", pack.ErrCorrupt, p.Base, offset)
		}
		if readErr == nil || pack.IsLarge(readErr) {
			return typ, data, readErr
		}
		if errors.Is(readErr, pack.ErrCorrupt) {
			s.noteDamaged(p)
		}
		err = readErr
	}
	return 0, nil, err
}

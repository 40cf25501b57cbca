package objects

import (
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/internal/failpoint"
)

const (
	// retireAfter is how long a replaced pack stays for programs that have
	// begun to read it.
	retireAfter = 5 * time.Second
	// maxRetired is how many replaced packs stay at most, however young.
	maxRetired = 24
)

// retired is a pack whose objects are all in a newer one. One that stays is the
// newer one of those before it in the row, and is to lose its .keep.
type retired struct {
	base  string
	since time.Time
	stays bool
}

// Seal ends joining, removes the replaced packs and ends the rolling one, so that
// the operator's gc may take it. Call it when a ref names all that was installed.
func (s *Store) Seal() error {
	s.stopJoining()
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.removeFirst(len(s.retired)); err != nil {
		return err
	}
	if s.rolling == nil {
		return nil
	}
	if err := s.unkeep(s.rolling.base); err != nil {
		return err
	}
	s.rolling = nil
	return nil
}

// unkeep gives a pack to the operator's gc. The caller holds writing.
func (s *Store) unkeep(base string) error {
	if err := removeFile(base + ".keep"); err != nil {
		return fmt.Errorf("cannot give a pack to the operator's gc: %w", err)
	}
	delete(s.kept, base)
	failpoint.Hit(failpoint.PackUnkept)
	return nil
}

// Retire removes replaced packs that nobody can be reading any more, and has packs
// joined that others installed. Call it now and then.
func (s *Store) Retire() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if time.Since(s.tended) > tendApart {
		if _, err := s.folder.dropStaleMultiIndex(); err != nil {
			return err
		}
		s.tend()
	}
	return s.removeRetired(time.Now().Add(-retireAfter))
}

// removeRetired removes what was replaced before that time, once the oldest has
// stood twice as long: many at a moment instead of one at every commit, because
// a program that has just listed the packs may complain about one that goes. Where
// they would become too many the oldest go at once.
func (s *Store) removeRetired(before time.Time) error {
	packs, n := 0, 0
	for i, r := range slices.Backward(s.retired) {
		if r.stays {
			continue
		}
		if packs++; packs == maxRetired+1 {
			n = i + 1
			break
		}
	}
	if len(s.retired) > 0 && s.retired[0].since.Before(before.Add(-retireAfter)) {
		for n < len(s.retired) && s.retired[n].since.Before(before) {
			n++
		}
	}
	return s.removeFirst(n)
}

// removeFirst removes the n packs that were retired first; those that stay lose
// their .keep, or will at Release.
func (s *Store) removeFirst(n int) error {
	if n == 0 {
		return nil
	}
	var gone []string
	for _, r := range s.retired[:n] {
		if !r.stays {
			gone = append(gone, r.base)
		}
	}
	// A pack may be named by an index over many packs, or come to be just now.
	if err := s.folder.dropMultiIndex(gone); err != nil {
		return err
	}
	for range n {
		if err := s.retireNow(s.retired[0]); err != nil {
			return err
		}
		s.retired = s.retired[1:]
	}
	return s.folder.dropMultiIndex(gone)
}

func (s *Store) retireNow(r retired) error {
	switch {
	case r.stays && s.holding > 0:
		s.received = append(s.received, r.base)
		return nil
	case r.stays:
		return s.unkeep(r.base)
	case !s.kept[r.base] && isKept(r.base):
		return nil // somebody wants it to stay
	}
	if err := s.packs.drop(r.base, func() error { return removePack(r.base) }); err != nil {
		return err
	}
	delete(s.kept, r.base)
	return nil
}

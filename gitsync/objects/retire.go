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
	s.joins.stop()
	return s.Writer.seal()
}

func (w *Writer) seal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.removeFirst(len(w.retired)); err != nil {
		return err
	}
	if w.rolling == nil {
		return nil
	}
	if err := w.unkeep(w.rolling.base); err != nil {
		return err
	}
	w.rolling = nil
	return nil
}

// Retire removes replaced packs that nobody can be reading any more, and has packs
// joined that others installed. Call it now and then.
func (s *Store) Retire() error {
	look := s.joins.areDue()
	err := s.Writer.retire(look)
	if look { // also while something cannot be removed
		s.joins.tend()
	}
	return err
}

// retire removes replaced packs that nobody can be reading any more, and with look an
// index over many packs that names one which is gone.
func (w *Writer) retire(look bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if look {
		if _, err := w.folder.dropStaleMultiIndex(); err != nil {
			return err
		}
	}
	return w.removeRetired(time.Now().Add(-retireAfter))
}

// unkeep gives a pack to the operator's gc. The caller holds mu.
func (w *Writer) unkeep(base string) error {
	if err := removeFile(base + ".keep"); err != nil {
		return fmt.Errorf("cannot give a pack to the operator's gc: %w", err)
	}
	delete(w.kept, base)
	failpoint.Hit(failpoint.PackUnkept)
	return nil
}

// passing are the packs that are about to be replaced or removed anyway.
func (w *Writer) passing() map[string]bool {
	all := map[string]bool{}
	if w.rolling != nil {
		all[w.rolling.base] = true
	}
	for _, r := range w.retired {
		if !r.stays {
			all[r.base] = true
		}
	}
	return all
}

// removeRetired removes what was replaced before that time, once the oldest has stood twice as
// long. It removes many at one moment instead of one at every commit: a program that has just
// listed the packs may complain about each that goes. Where they would become too many the oldest
// go at once.
func (w *Writer) removeRetired(before time.Time) error {
	packs, n := 0, 0
	for i, r := range slices.Backward(w.retired) {
		if r.stays {
			continue
		}
		if packs++; packs == maxRetired+1 {
			n = i + 1
			break
		}
	}
	if len(w.retired) > 0 && w.retired[0].since.Before(before.Add(-retireAfter)) {
		for n < len(w.retired) && w.retired[n].since.Before(before) {
			n++
		}
	}
	return w.removeFirst(n)
}

// removeFirst removes the n packs that were retired first; those that stay lose
// their .keep, or will at Release.
func (w *Writer) removeFirst(n int) error {
	if n == 0 {
		return nil
	}
	var gone []string
	for _, r := range w.retired[:n] {
		if !r.stays {
			gone = append(gone, r.base)
		}
	}
	// A pack may be named by an index over many packs, or come to be just now.
	if err := w.folder.dropMultiIndex(gone); err != nil {
		return err
	}
	for range n {
		if err := w.retireNow(w.retired[0]); err != nil {
			return err
		}
		w.retired = w.retired[1:]
	}
	return w.folder.dropMultiIndex(gone)
}

func (w *Writer) retireNow(r retired) error {
	switch {
	case r.stays && w.holding > 0:
		w.received = append(w.received, r.base)
		return nil
	case r.stays:
		return w.unkeep(r.base)
	case !w.kept[r.base] && isKept(r.base):
		return nil // somebody wants it to stay
	}
	if err := w.packs.drop(r.base, func() error { return removePack(r.base) }); err != nil {
		return err
	}
	delete(w.kept, r.base)
	return nil
}

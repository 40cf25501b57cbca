package objects

import (
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/internal/failpoint"
)

const (
	// retireAfter is how long a replaced pack stays for programs that have begun to read it.
	retireAfter = 5 * time.Second
	// maxRetired is how many replaced packs stay at most, however young they are.
	maxRetired = 24
)

// retired is a pack whose objects are all in a newer one. If stays is set, it is that newer pack
// instead, and the packs that it replaces stand before it in the list. Such a pack stays and is to
// lose its .keep.
type retired struct {
	base  string
	since time.Time
	stays bool
}

// Seal ends joining, removes the replaced packs and seals the rolling one, so that the operator's
// gc may take it. Call it when a ref names all that was installed.
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

// Retire removes replaced packs that nobody can be reading any more. It also begins to join packs
// that other programs installed. Call it now and then.
func (s *Store) Retire() error {
	look := s.joins.areDue()
	err := s.Writer.retire(look)
	if look { // also if something could not be removed
		s.joins.tend()
	}
	return err
}

// retire removes replaced packs that nobody can be reading any more. If look is set, it also
// removes an index over many packs that names a pack which is gone.
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

// unkeep removes the .keep of a pack, and so gives the pack to the operator's gc. The caller holds
// mu.
func (w *Writer) unkeep(base string) error {
	if err := removeFile(base + ".keep"); err != nil {
		return fmt.Errorf("cannot give a pack to the operator's gc: %w", err)
	}
	delete(w.kept, base)
	failpoint.Hit(failpoint.PackUnkept)
	return nil
}

// passing returns the packs that are about to be replaced or removed anyway.
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

// removeRetired removes packs that were replaced before the time `before`, once the oldest was
// replaced retireAfter earlier than that. So it removes many at one moment instead of one at every
// commit. A program that has just listed the packs may complain about each pack that goes. If more
// than maxRetired would stay, the oldest go at once.
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

// removeAllRetired removes all replaced packs now.
func (w *Writer) removeAllRetired() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.removeFirst(len(w.retired))
}

// removeFirst removes the first n of the retired packs. Those that stay lose their .keep now, or at
// Release if something is held.
func (w *Writer) removeFirst(n int) error {
	if n == 0 {
		return nil
	}
	// An index over many packs may name one of these packs. It is dropped once more at the end,
	// because somebody may be writing such an index just now.
	if err := w.folder.removeMultiIndexes(); err != nil {
		return err
	}
	for range n {
		if err := w.retireNow(w.retired[0]); err != nil {
			return err
		}
		w.retired = w.retired[1:]
	}
	return w.folder.removeMultiIndexes()
}

func (w *Writer) retireNow(r retired) error {
	switch {
	case r.stays && w.holding > 0:
		w.received = append(w.received, r.base)
		return nil
	case r.stays:
		return w.unkeep(r.base)
	case !w.kept[r.base] && isKept(r.base):
		return nil // the .keep is that of somebody who wants the pack to stay
	}
	if err := w.packs.drop(r.base, func() error { return removePack(r.base) }); err != nil {
		return err
	}
	delete(w.kept, r.base)
	return nil
}

package objects

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// Install writes the objects of b into the rolling pack and makes it durable;
// after that, and only then, a ref may name them.
//
// The pack gets its .keep first, so no gc ever sees it without: a "git gc
// --prune=now" between Install and the move of the ref cannot drop the new
// objects. The pack that it replaces is removed seconds later. Once it is full,
// the next Install begins another; the full one loses its .keep after those that
// it replaced are gone, and by then a ref names what it holds. Were it to lose it
// earlier, a gc could leave out what the replaced ones hold, remove the full one,
// and the rest would go with the replaced.
func (s *Store) Install(b *Builder) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.rolling != nil && s.rolling.full() && !s.mustWait() {
		s.retired = append(s.retired, retired{base: s.rolling.base, since: time.Now(), stays: true})
		s.rolling = nil
		s.sealed++
		s.tend()
	}
	old := s.rolling
	if old == nil {
		old = &rolling{}
	}
	next, err := old.with(b)
	if err != nil {
		return err
	}
	if len(next.entries) == len(old.entries) {
		return nil
	}
	data, name, idx := pack.Encode(next.body, next.entries)
	next.base = filepath.Join(string(s.folder), "pack-"+name.String())
	if err := s.folder.place(next.base, data, idx); err != nil {
		return fmt.Errorf("cannot install a pack: %w", err)
	}
	s.kept[next.base] = true
	failpoint.Hit(failpoint.PackSynced)
	if err := s.packs.add(next.base); err != nil {
		return fmt.Errorf("cannot install a pack: %w", err)
	}
	if old.base != "" {
		s.packs.replace(old.base)
		s.retired = append(s.retired, retired{base: old.base, since: time.Now()})
	}
	s.rolling = next
	return s.removeRetired(time.Now().Add(-retireAfter))
}

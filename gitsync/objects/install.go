package objects

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// Writer puts packs into a repository and removes packs that newer ones replace. A pack that it
// installs is durable, and has its .keep until a ref may name its objects.
type Writer struct {
	folder  packFolder
	packs   *packSet
	writers sync.Pool // of *pack.Writer, for use by the next commit: commits come in bursts

	mu       sync.Mutex // guards all below: one writer at a time
	rolling  *rolling   // nil if the next Install begins another one
	retired  []retired
	kept     map[string]bool // packs that have a .keep of this program
	holding  int             // see Hold
	received []string        // packs that lose their .keep at Release
}

// Install writes the objects of b into the rolling pack and makes the pack durable. Only after that
// may a ref name the objects.
//
// The pack gets its .keep first, so no gc ever sees it without one. A "git gc --prune=now" between
// Install and the move of the ref cannot drop the new objects. The pack that it replaces is removed
// seconds later. Once the pack is full, the next Install begins another one. The full pack loses
// its .keep after the packs that it replaced are gone. By then a ref names its objects.
//
// If the full pack lost its .keep earlier, a gc could leave the objects of the replaced packs out
// of its own pack and remove the full pack. These objects would then go with the replaced packs.
func (s *Store) Install(b *Builder) error {
	sealed, err := s.Writer.install(b, s.joins.areBehind())
	if sealed {
		s.joins.packSealed()
	}
	return err
}

// install does what Install says. behind says that joins of packs are far behind. A full pack then
// grows on, but not beyond growBytes. sealed reports whether install ended a full pack.
func (w *Writer) install(b *Builder, behind bool) (sealed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.rolling; r != nil && r.full() && !(behind && len(r.body) < growBytes) {
		w.retired = append(w.retired, retired{base: r.base, since: time.Now(), stays: true})
		w.rolling = nil
		sealed = true
	}
	old := w.rolling
	if old == nil {
		old = &rolling{}
	}
	pen, ok := w.writers.Get().(*pack.Writer)
	if !ok {
		pen = pack.NewWriter(nil)
	}
	next, err := old.with(b, pen)
	pen.Again(nil) // next keeps the bytes that pen wrote
	w.writers.Put(pen)
	if err != nil {
		return sealed, err
	}
	if len(next.entries) == len(old.entries) {
		return sealed, nil
	}
	parts, name, idx := pack.EncodeParts(next.body, next.entries)
	next.base = filepath.Join(string(w.folder), "pack-"+name.String())
	if err := w.folder.place(next.base, idx, parts[:]...); err != nil {
		return sealed, fmt.Errorf("cannot install a pack: %w", err)
	}
	w.kept[next.base] = true
	failpoint.Hit(failpoint.PackSynced)
	if err := w.packs.add(next.base); err != nil {
		return sealed, fmt.Errorf("cannot install a pack: %w", err)
	}
	if old.base != "" {
		w.packs.replace(old.base)
		w.retired = append(w.retired, retired{base: old.base, since: time.Now()})
	}
	w.rolling = next
	return sealed, w.removeRetired(time.Now().Add(-retireAfter))
}

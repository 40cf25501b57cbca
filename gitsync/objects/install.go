package objects

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// Writer puts packs into a repository and takes those away that newer ones replace. What
// it installs is durable and has its .keep until a ref may name it.
type Writer struct {
	folder  packFolder
	packs   *packSet
	writers sync.Pool // of *pack.Writer: in a burst one commit follows the other

	mu       sync.Mutex // guards all below: one writer at a time
	rolling  *rolling   // nil where the next Install begins another
	retired  []retired
	kept     map[string]bool // packs that have a .keep of ours
	holding  int             // see Hold
	received []string        // packs that lose their .keep at Release
}

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
	sealed, err := s.Writer.install(b, s.joins.areBehind())
	if sealed {
		s.joins.packSealed()
	}
	return err
}

// install is Install, where behind says that joins of packs are far behind: then a full
// pack grows on, but not beyond growBytes. sealed says that it began another one.
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
	pen.Again(nil) // what it wrote is the next pack's
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

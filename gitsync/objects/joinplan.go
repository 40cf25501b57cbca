package objects

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// candidate is a pack that may be joined with others.
type candidate struct {
	base     string
	size     int64
	objects  int64
	modified time.Time
}

func (c candidate) weight() int64 { return max(c.size, joinFloor) }

// chooseJoin returns the packs to be joined next, or none if there are few.
func chooseJoin(all []candidate) []candidate {
	if len(all) <= joinAbove {
		return nil
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.base, b.base))
	})
	n, weight, bytes, objects := 0, int64(0), int64(0), int64(0)
	for _, c := range all {
		bytes += c.size
		objects += c.objects
		if bytes > joinBytes || objects > joinObjects || n > 1 && c.weight() > joinFactor*weight {
			break
		}
		weight += c.weight()
		n++
	}
	if n < 2 {
		return nil
	}
	return all[:n]
}

// candidates returns the packs that may be joined. They are whole, not very large and not unfit.
// They are not about to be replaced, and no other program keeps them.
func (w *Writer) candidates(unfit map[string]bool) ([]candidate, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	entries, err := os.ReadDir(string(w.folder))
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
	}
	passing := w.passing()
	var all []candidate
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		base := filepath.Join(string(w.folder), name)
		if !ok || !strings.HasPrefix(name, "pack-") || !there[name+".pack"] || passing[base] || w.packs.isDamaged(base) || unfit[base] {
			continue
		}
		// Packs of a partial clone stay apart, and so do packs of objects that a gc would drop.
		if there[name+".promisor"] || there[name+".mtimes"] || there[name+".keep"] && !w.kept[base] {
			continue
		}
		idx, err := e.Info()
		if err != nil {
			continue // it is being removed just now
		}
		info, err := os.Stat(base + ".pack")
		if err != nil {
			continue
		}
		c := candidate{base: base, size: info.Size(), objects: pack.CountOf(idx.Size()), modified: info.ModTime()}
		if c.size <= joinBytes/2 && c.objects <= joinObjects/2 {
			all = append(all, c)
		}
	}
	return all, nil
}

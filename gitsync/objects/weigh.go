package objects

import (
	"errors"
	"fmt"
)

// ErrHuge says that trees hold more than anybody has written: a few objects that
// repeat each other can stand for billions of files.
var ErrHuge = errors.New("it is no record that anybody has written")

// maxDepth is how deep folders may lie in each other. Those of a message lie six deep.
const maxDepth = 64

// Weigh returns ErrHuge if two trees differ in more than most files, or if what
// differs lies deeper than any record. Folders that repeat are looked at once, so it
// takes no longer than there are objects, where Diff takes as long as there are paths.
func (s *Store) Weigh(old, new Hash, most int) error {
	w := weighing{store: s, most: most, known: map[[2]Hash]int{}}
	n, err := w.weigh(old, new, 0)
	if err == nil && n > most {
		err = fmt.Errorf("%w: more than %d files differ", ErrHuge, most)
	}
	return err
}

type weighing struct {
	store *Store
	most  int
	known map[[2]Hash]int // how many files differ between two folders, at most most+1
}

func (w *weighing) weigh(old, new Hash, depth int) (n int, err error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("%w: folders lie more than %d deep", ErrHuge, maxDepth)
	}
	pair := [2]Hash{old, new}
	if n, ok := w.known[pair]; ok {
		return n, nil
	}
	err = w.store.differing(old, new, func(one, two Entry) error {
		files := 1
		if one.Mode.IsDir() || two.Mode.IsDir() {
			if files, err = w.weigh(one.Hash, two.Hash, depth+1); err != nil {
				return err
			}
		}
		n = min(n+files, w.most+1)
		return nil
	})
	w.known[pair] = n
	return n, err
}

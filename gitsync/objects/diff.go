package objects

import (
	"errors"
	"fmt"
)

// Difference is a path that has different entries in two trees. If a tree has no entry there, the
// hash of its entry is Zero.
type Difference struct {
	Path     string
	Old, New Entry
}

// Diff calls visit with each file that differs between two trees, in the order of their names. It
// looks only into folders with different hashes.
func (t *Trees) Diff(old, new Hash, visit func(Difference) error) error {
	return t.DiffIn(old, new, func(string) (bool, error) { return true, nil }, visit)
}

// DiffIn is Diff for trees that were not weighed. It asks before it looks into a folder, whose path
// ends with a slash.
func (t *Trees) DiffIn(old, new Hash, mayEnter func(folder string) (bool, error), visit func(Difference) error) error {
	return t.diff(old, new, "", mayEnter, visit)
}

func (t *Trees) diff(old, new Hash, prefix string, mayEnter func(string) (bool, error), visit func(Difference) error) error {
	return t.differing(old, new, func(one, two Entry) error {
		name := one.Name + two.Name
		if one.Name == two.Name {
			name = one.Name
		}
		if one.Mode.IsDir() || two.Mode.IsDir() {
			folder := prefix + name + "/"
			if may, err := mayEnter(folder); err != nil || !may {
				return err
			}
			return t.diff(one.Hash, two.Hash, folder, mayEnter, visit)
		}
		return visit(Difference{Path: prefix + name, Old: one, New: two})
	})
}

// differing calls visit with each pair of entries that differ between two trees. The two entries of
// a pair have the same name. Both are folders or both are files, or one of them is not there.
func (t *Trees) differing(old, new Hash, visit func(one, two Entry) error) error {
	if old == new {
		return nil
	}
	a, err := t.Tree(old)
	if err != nil {
		return err
	}
	b, err := t.Tree(new)
	if err != nil {
		return err
	}
	for len(a) > 0 || len(b) > 0 {
		var one, two Entry
		switch {
		case len(b) == 0 || len(a) > 0 && compareEntries(a[0], b[0]) < 0:
			one, a = a[0], a[1:]
		case len(a) == 0 || compareEntries(a[0], b[0]) > 0:
			two, b = b[0], b[1:]
		default:
			one, a, two, b = a[0], a[1:], b[0], b[1:]
		}
		if one.Hash == two.Hash && one.Mode == two.Mode {
			continue
		}
		if err := visit(one, two); err != nil {
			return err
		}
	}
	return nil
}

// ErrHuge says that trees hold more than anybody has written. A few objects that repeat each other
// can stand for billions of files.
var ErrHuge = errors.New("it is no record that anybody has written")

// maxDepth is how deep folders may lie in each other. The folders of a message lie six deep.
const maxDepth = 64

// Weigh returns ErrHuge if two trees differ in more than most files, or if a difference lies deeper
// than maxDepth. A folder without files counts as a file. It looks once at folders that repeat. So
// its time depends on the number of objects, and the time of Diff on the number of paths.
func (t *Trees) Weigh(old, new Hash, most int) error {
	w := weighing{trees: t, most: most, known: map[[2]Hash]int{}}
	n, err := w.weigh(old, new, 0)
	if err == nil && n > most {
		err = fmt.Errorf("%w: more than %d files differ", ErrHuge, most)
	}
	return err
}

type weighing struct {
	trees *Trees
	most  int
	known map[[2]Hash]int // number of files that differ between two folders, counted up to most+1
}

func (w *weighing) weigh(old, new Hash, depth int) (n int, err error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("%w: folders lie more than %d deep", ErrHuge, maxDepth)
	}
	pair := [2]Hash{old, new}
	if n, ok := w.known[pair]; ok {
		return n, nil
	}
	err = w.trees.differing(old, new, func(one, two Entry) error {
		files := 1
		if one.Mode.IsDir() || two.Mode.IsDir() {
			if files, err = w.weigh(one.Hash, two.Hash, depth+1); err != nil {
				return err
			}
			files = max(1, files)
		}
		n = min(n+files, w.most+1)
		return nil
	})
	w.known[pair] = n
	return n, err
}

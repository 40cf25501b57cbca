package objects

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

func cutPath(path string) (name, rest string, deeper bool) { return strings.Cut(path, "/") }

// Change is what becomes of one path of a tree. The zero Change removes the path.
type Change struct {
	Hash Hash
	Mode Mode // 0 means ModeFile
}

// Update applies the changes to the tree base and returns the new tree. It writes only the
// directories that are touched, into b. Directories that become empty vanish. A file that comes
// below another file, or in the place of a directory, replaces it. A removal there changes nothing.
func (t *Trees) Update(base Hash, changes map[string]Change, b *Builder) (Hash, error) {
	if len(changes) == 0 {
		return base, nil
	}
	all := make([]pathChange, 0, len(changes))
	for path, change := range changes {
		if path == "" || path[0] == '/' || path[len(path)-1] == '/' || strings.Contains(path, "//") {
			return Zero, fmt.Errorf("cannot change %q: not a path below a tree", path)
		}
		all = append(all, pathChange{path, change})
	}
	slices.SortFunc(all, func(a, b pathChange) int { return strings.Compare(a.path, b.path) })
	return t.update(base, all, 0, b)
}

type pathChange struct {
	path string
	Change
}

// update is Update for changes below one directory. The first `above` bytes of their paths are the
// path of that directory and a slash. The changes are in the order of their paths. So those below
// one directory in it come together.
func (t *Trees) update(base Hash, changes []pathChange, above int, b *Builder) (Hash, error) {
	entries, err := t.Tree(base)
	if err != nil {
		return Zero, err
	}
	var here []pathChange
	var dirs edit
	for len(changes) > 0 {
		name, _, deeper := cutPath(changes[0].path[above:])
		if !deeper {
			here = append(here, pathChange{name, changes[0].Change})
			changes = changes[1:]
			continue
		}
		below := changes[0].path[:above+len(name)+1]
		count := sort.Search(len(changes), func(i int) bool { return !strings.HasPrefix(changes[i].path, below) })
		if err := t.updateDir(entries, name, changes[:count], len(below), &dirs, b); err != nil {
			return Zero, err
		}
		changes = changes[count:]
	}
	if entries = updateFiles(dirs.of(entries), here); len(entries) == 0 {
		return emptyTree, nil
	}
	return b.tree(t.cache, base, entries), nil
}

// updateDir notes in dirs what becomes of the directory of that name among entries.
func (t *Trees) updateDir(entries []Entry, name string, changes []pathChange, above int, dirs *edit, b *Builder) error {
	old := Zero
	if i, ok := findEntry(entries, name, true); ok {
		old = entries[i].Hash
	}
	tree, err := t.update(old, changes, above, b)
	switch {
	case err != nil:
		return err
	case tree != emptyTree && tree != Zero:
		dirs.put(Entry{Name: name, Mode: ModeDir, Hash: tree})
	case old != Zero:
		dirs.gone = append(dirs.gone, name)
	}
	return nil
}

func updateFiles(entries []Entry, here []pathChange) []Entry {
	var files edit
	for _, c := range here {
		if c.Hash != Zero {
			files.put(Entry{Name: c.path, Mode: cmp.Or(c.Mode, ModeFile), Hash: c.Hash})
		} else if _, ok := findEntry(entries, c.path, false); ok { // removing a file leaves a directory of its name alone
			files.gone = append(files.gone, c.path)
		}
	}
	return files.of(entries)
}

// edit is what becomes of entries: those with a name in gone are removed, then the fresh ones come.
type edit struct {
	gone  []string
	fresh []Entry
}

// put notes that an entry replaces whatever has its name.
func (e *edit) put(entry Entry) {
	e.gone, e.fresh = append(e.gone, entry.Name), append(e.fresh, entry)
}

// of applies the edit and returns the entries after it. Nearly all entries of a day with many
// messages stay. They are copied without a look at each of them.
func (e *edit) of(entries []Entry) []Entry {
	if len(e.gone) == 0 {
		return entries
	}
	var drop []int
	for _, name := range e.gone {
		for _, dir := range []bool{false, true} {
			if i, ok := findEntry(entries, name, dir); ok {
				drop = append(drop, i)
			}
		}
	}
	slices.Sort(drop)
	slices.SortFunc(e.fresh, compareEntries)
	out, at := make([]Entry, 0, len(entries)+len(e.fresh)), 0
	copyTo := func(to int) {
		for ; len(drop) > 0 && drop[0] < to; drop = drop[1:] {
			out = append(out, entries[at:drop[0]]...)
			at = drop[0] + 1
		}
		out, at = append(out, entries[at:to]...), to
	}
	for _, f := range e.fresh {
		to, _ := slices.BinarySearchFunc(entries, f, compareEntries)
		copyTo(to)
		out = append(out, f)
	}
	copyTo(len(entries))
	return out
}

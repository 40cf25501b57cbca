package objects

import (
	"fmt"
	"slices"
	"strings"
)

func cutPath(path string) (name, rest string, deeper bool) { return strings.Cut(path, "/") }

// Change is what becomes of one path of a tree. The zero Change removes the path.
type Change struct {
	Hash Hash
	Mode Mode // 0 means ModeFile
}

// Update returns the tree that base becomes by the changes; only directories
// that are touched are written, into b. Directories that become empty vanish.
// A change below a path that is a file, or at a path that is a directory,
// replaces it.
func (t *Trees) Update(base Hash, changes map[string]Change, b *Builder) (Hash, error) {
	if len(changes) == 0 {
		return base, nil
	}
	old, err := t.Tree(base)
	if err != nil {
		return Zero, err
	}
	here := map[string]Change{}
	below := map[string]map[string]Change{}
	for path, change := range changes {
		name, rest, deeper := cutPath(path)
		if name == "" || deeper && rest == "" {
			return Zero, fmt.Errorf("cannot change %q: not a path below a tree", path)
		}
		if !deeper {
			here[name] = change
			continue
		}
		if below[name] == nil {
			below[name] = map[string]Change{}
		}
		below[name][rest] = change
	}
	entries, err := t.updateDirs(old, below, b)
	if err != nil {
		return Zero, err
	}
	if entries = updateFiles(entries, here); len(entries) == 0 {
		return emptyTree, nil
	}
	return b.tree(t.cache, base, entries), nil
}

func (t *Trees) updateDirs(entries []Entry, below map[string]map[string]Change, b *Builder) ([]Entry, error) {
	var fresh []Entry
	gone := map[string]bool{}
	for name, changes := range below {
		old := Zero
		if i, ok := findEntry(entries, name, true); ok {
			old = entries[i].Hash
		}
		tree, err := t.Update(old, changes, b)
		if err != nil {
			return nil, err
		}
		if tree == emptyTree || tree == Zero {
			if old != Zero {
				gone[name] = true
			}
			continue
		}
		gone[name] = true
		fresh = append(fresh, Entry{Name: name, Mode: ModeDir, Hash: tree})
	}
	return merge(entries, gone, fresh), nil
}

func updateFiles(entries []Entry, here map[string]Change) []Entry {
	var fresh []Entry
	gone := map[string]bool{}
	for name, change := range here {
		if change.Hash == Zero {
			// Removing a file leaves a directory of its name alone.
			if _, ok := findEntry(entries, name, false); ok {
				gone[name] = true
			}
			continue
		}
		gone[name] = true
		mode := change.Mode
		if mode == 0 {
			mode = ModeFile
		}
		fresh = append(fresh, Entry{Name: name, Mode: mode, Hash: change.Hash})
	}
	return merge(entries, gone, fresh)
}

// merge replaces the entries that have a name in gone by the fresh ones.
func merge(entries []Entry, gone map[string]bool, fresh []Entry) []Entry {
	if len(gone) == 0 {
		return entries
	}
	slices.SortFunc(fresh, compareEntries)
	out := make([]Entry, 0, len(entries)+len(fresh))
	for _, e := range entries {
		if gone[e.Name] {
			continue
		}
		for len(fresh) > 0 && compareEntries(fresh[0], e) < 0 {
			out = append(out, fresh[0])
			fresh = fresh[1:]
		}
		out = append(out, e)
	}
	return append(out, fresh...)
}

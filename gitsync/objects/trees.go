package objects

import (
	"fmt"
	"slices"
)

// Trees reads, compares and changes the folders of a repository. It knows nothing of the repository
// but how to read a tree.
type Trees struct {
	read  func(Hash) ([]byte, error)
	cache *treeCache // of the trees that were read or made last
}

// Tree returns the entries of a tree in git's order. They must not be changed. Zero is the empty
// tree.
func (t *Trees) Tree(h Hash) ([]Entry, error) {
	if h == Zero || h == emptyTree {
		return nil, nil
	}
	if entries, ok := t.cache.get(h); ok {
		return entries, nil
	}
	data, err := t.read(h)
	if err != nil {
		return nil, err
	}
	entries, err := decodeTree(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read tree %s: %w", h, err)
	}
	if !isPlain(entries, data) {
		return slices.SortedFunc(slices.Values(entries), compareEntries), nil
	}
	t.cache.put(h, entries)
	return entries, nil
}

// Lookup finds the file at a slash-separated path below a tree. ok is false if there is no regular
// file.
func (t *Trees) Lookup(tree Hash, path string) (e Entry, ok bool, err error) {
	for {
		name, rest, deeper := cutPath(path)
		entries, err := t.Tree(tree)
		if err != nil {
			return Entry{}, false, err
		}
		i, found := findEntry(entries, name, deeper)
		if !found {
			return Entry{}, false, nil
		}
		if !deeper {
			return entries[i], entries[i].Mode.IsFile(), nil
		}
		tree, path = entries[i].Hash, rest
	}
}

// Subtree finds the directory at path below a tree. If path is "", that is the tree itself.
func (t *Trees) Subtree(tree Hash, path string) (Hash, bool, error) {
	for path != "" {
		name, rest, _ := cutPath(path)
		entries, err := t.Tree(tree)
		if err != nil {
			return Zero, false, err
		}
		i, found := findEntry(entries, name, true)
		if !found {
			return Zero, false, nil
		}
		tree, path = entries[i].Hash, rest
	}
	return tree, true, nil
}

// Files calls visit with every entry below tree that is no directory, in git's order. Paths begin
// with prefix.
func (t *Trees) Files(tree Hash, prefix string, visit func(path string, e Entry) error) error {
	entries, err := t.Tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Mode.IsDir() {
			err = t.Files(e.Hash, prefix+e.Name+"/", visit)
		} else {
			err = visit(prefix+e.Name, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package objects

import (
	"container/list"
	"fmt"
	"slices"
	"sync"
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

const (
	treeCacheBytes = 64 << 20
	entryOverhead  = 48 // bytes of one decoded Entry besides its name
)

// treeCache keeps the decoded trees that were used last, up to a limit of bytes. Each commit makes
// new trees of the same folders, and the older ones are soon of no use: while no folder is large, a
// quarter of the limit is enough. It keeps only trees that encodeTree turns back into the same bytes.
type treeCache struct {
	mu      sync.Mutex // guards all fields
	limit   int
	largest int // the size of the largest tree so far
	size    int
	byKey   map[Hash]*list.Element
	order   *list.List // of *cachedTree, the one used last in front
}

type cachedTree struct {
	hash    Hash
	entries []Entry
	size    int
}

func newTreeCache(limit int) *treeCache {
	return &treeCache{limit: limit, byKey: map[Hash]*list.Element{}, order: list.New()}
}

func (c *treeCache) get(h Hash) ([]Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byKey[h]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(element)
	return element.Value.(*cachedTree).entries, true
}

func (c *treeCache) put(h Hash, entries []Entry) {
	size := 128
	for _, e := range entries {
		size += len(e.Name) + entryOverhead
	}
	if size > c.limit/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[h]; ok {
		return
	}
	c.byKey[h] = c.order.PushFront(&cachedTree{hash: h, entries: entries, size: size})
	c.size += size
	c.largest = max(c.largest, size)
	const generations = 4 // of the largest folder
	for most := min(c.limit, max(c.limit/4, generations*c.largest)); c.size > most; {
		oldest := c.order.Back()
		tree := c.order.Remove(oldest).(*cachedTree)
		delete(c.byKey, tree.hash)
		c.size -= tree.size
	}
}

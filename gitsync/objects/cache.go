package objects

import (
	"container/list"
	"sync"
)

const (
	treeCacheBytes = 64 << 20
	entryOverhead  = 48 // bytes of one decoded Entry besides its name
)

// treeCache keeps the decoded trees that were used last, up to a limit of bytes. It keeps only
// trees that encodeTree turns back into the same bytes.
type treeCache struct {
	mu    sync.Mutex // guards all fields
	limit int
	size  int
	byKey map[Hash]*list.Element
	order *list.List // of *cachedTree, the one used last in front
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
	for c.size > c.limit {
		oldest := c.order.Back()
		tree := c.order.Remove(oldest).(*cachedTree)
		delete(c.byKey, tree.hash)
		c.size -= tree.size
	}
}

package objects

import (
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// Builder collects new objects until Store.Install writes them.
type Builder struct {
	objects []object
	known   map[Hash]int // the index of each object in objects
	commits int
}

type object struct {
	hash Hash
	typ  plumbing.ObjectType
	data []byte
	// base is the tree that this tree came from, and delta makes this tree from base. Both are set
	// only if the delta is much shorter than this tree. The tree is stored as the delta if the pack
	// has base.
	base  Hash
	delta []byte
}

// BlobHash returns the name that git gives to a blob of data.
func BlobHash(data []byte) Hash { return plumbing.ComputeHash(plumbing.BlobObject, data) }

// Blob adds a blob and returns its name. data must not be changed afterwards.
func (b *Builder) Blob(data []byte) Hash { return b.add(plumbing.BlobObject, data) }

// Content returns the content of a blob that was added.
func (b *Builder) Content(h Hash) ([]byte, bool) {
	i, ok := b.known[h]
	if !ok || b.objects[i].typ != plumbing.BlobObject {
		return nil, false
	}
	return b.objects[i].data, true
}

// Commit adds a commit and returns its name. Both identities are cleaned.
func (b *Builder) Commit(c Commit) Hash {
	if c.Tree == Zero || c.Tree == emptyTree {
		c.Tree = b.add(plumbing.TreeObject, nil)
	}
	b.commits++
	return b.add(plumbing.CommitObject, encodeCommit(c))
}

// Append adds the objects of another builder.
func (b *Builder) Append(other *Builder) {
	for _, o := range other.objects {
		b.addObject(o)
	}
	b.commits += other.commits
}

// tree adds a tree that came from the tree base, and returns its name. base is Zero if the tree
// came from no other.
func (b *Builder) tree(trees *treeCache, base Hash, entries []Entry) Hash {
	h := b.addTree(trees, base, entries, encodeTree(entries))
	trees.put(h, entries)
	return h
}

// addTree adds a tree with these entries, which are encoded in data, and returns its name.
func (b *Builder) addTree(trees *treeCache, base Hash, entries []Entry, data []byte) Hash {
	o := object{hash: plumbing.ComputeHash(plumbing.TreeObject, data), typ: plumbing.TreeObject, data: data}
	if old, ok := trees.get(base); ok && len(data) >= deltaLeast {
		if delta := treeDelta(old, entries); len(delta) < len(data)/2 {
			o.base, o.delta = base, delta
		}
	}
	b.addObject(o)
	return o.hash
}

func (b *Builder) add(typ plumbing.ObjectType, data []byte) Hash {
	h := plumbing.ComputeHash(typ, data)
	b.addObject(object{hash: h, typ: typ, data: data})
	return h
}

func (b *Builder) addObject(o object) {
	if _, ok := b.known[o.hash]; ok {
		return
	}
	if b.known == nil {
		b.known = map[Hash]int{}
	}
	b.known[o.hash] = len(b.objects)
	b.objects = append(b.objects, o)
}

const (
	// deltaLeast is how many bytes a tree must have to be stored as a delta.
	deltaLeast = 200
	// deltaDepth bounds the length of the chains of deltas that are written. To read the tree at
	// the end of a chain, all its deltas are applied.
	deltaDepth = 64
)

// treeDelta returns the delta that git applies to the bytes of the tree old to get the bytes of
// new. The delta copies what both have and inserts the rest. Both trees are in git's order, so
// treeDelta walks through them once.
func treeDelta(old, new []Entry) []byte {
	d := pack.NewDelta(treeSize(old), treeSize(new))
	at := 0 // where old[0] begins in the bytes of the old tree
	for _, e := range new {
		for len(old) > 0 && old[0] != e && compareEntries(old[0], e) < 0 {
			at += old[0].size()
			old = old[1:]
		}
		switch {
		case len(old) == 0 || old[0].Name != e.Name || old[0].Mode != e.Mode:
			d.Insert(appendEntry(nil, e))
			continue
		case old[0].Hash == e.Hash:
			d.Copy(at, e.size())
		default:
			d.Copy(at, e.size()-pack.HashBytes)
			d.Insert(e.Hash[:])
		}
		at += e.size()
		old = old[1:]
	}
	return d.Bytes()
}

package objects

import (
	"github.com/go-git/go-git/v5/plumbing"
)

// Builder collects new objects until Store.Install writes them.
type Builder struct {
	objects []object
	known   map[Hash]int // where each is in objects
	commits int
}

type object struct {
	hash Hash
	typ  plumbing.ObjectType
	data []byte
}

// BlobHash is the name that git gives to a blob of data.
func BlobHash(data []byte) Hash { return plumbing.ComputeHash(plumbing.BlobObject, data) }

// Blob adds a blob, which must not be changed after, and returns its name.
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
		b.add(o.typ, o.data)
	}
	b.commits += other.commits
}

func (b *Builder) tree(s *Store, entries []Entry) Hash {
	h := b.add(plumbing.TreeObject, encodeTree(entries))
	s.trees.put(h, entries)
	return h
}

func (b *Builder) add(typ plumbing.ObjectType, data []byte) Hash {
	h := plumbing.ComputeHash(typ, data)
	if _, ok := b.known[h]; ok {
		return h
	}
	if b.known == nil {
		b.known = map[Hash]int{}
	}
	b.known[h] = len(b.objects)
	b.objects = append(b.objects, object{hash: h, typ: typ, data: data})
	return h
}

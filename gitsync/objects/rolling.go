package objects

import (
	"fmt"
	"hash/crc32"
	"maps"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

const (
	sealCommits = 64
	sealBytes   = 2 << 20
)

// rolling is the newest pack as it was last written. It is replaced, never changed: each Install
// writes a new pack with the old entries and the new ones. If several packs are made from one, only
// the last is of use, because they share the bytes of the old entries and the room behind these.
type rolling struct {
	base    string // path without ending, "" before the first Install
	body    []byte // all entries, as they stand in the pack
	entries []pack.Placed
	at      map[Hash]location
	commits int
	bases   int // bytes of the body that are whole trees, of which others may become deltas
}

// location is where an entry begins, and how many deltas its object is made of.
type location struct {
	offset uint32
	depth  uint32
}

// full reports whether the pack should grow no more. Trees that are stored whole do not count,
// because the next pack would need them as well: other trees are made of them.
func (r *rolling) full() bool { return r.commits >= sealCommits || len(r.body)-r.bases >= sealBytes }

// with returns what the pack becomes with the new objects of b. w writes their entries. r stays as
// it is.
func (r *rolling) with(b *Builder, w *pack.Writer) (*rolling, error) {
	next := &rolling{
		body:    r.body, // new entries are written behind it, where r does not look
		entries: r.entries,
		at:      maps.Clone(r.at),
		commits: r.commits + b.commits,
		bases:   r.bases,
	}
	if next.at == nil {
		next.at = map[Hash]location{}
	}
	w.Again(next.body)
	for _, o := range b.objects {
		if _, ok := next.at[o.hash]; ok {
			continue
		}
		start := w.Len()
		if int64(start)+int64(len(o.data)) > 1<<31-1<<20 {
			return nil, fmt.Errorf("cannot write a pack of more than 2 GB")
		}
		here := location{offset: uint32(pack.HeaderBytes + start)}
		base, ok := next.at[o.base]
		ok = ok && o.delta != nil && base.depth < deltaDepth
		var err error
		if ok {
			here.depth = base.depth + 1
			err = w.Delta(int64(here.offset-base.offset), o.delta)
		} else {
			err = w.Whole(o.typ, o.data)
		}
		if err != nil {
			return nil, err
		}
		if o.typ == plumbing.TreeObject && !ok {
			next.bases += w.Len() - start
		}
		next.at[o.hash] = here
		next.entries = append(next.entries, pack.Placed{
			Hash:   o.hash,
			Offset: here.offset,
			CRC:    crc32.ChecksumIEEE(w.Bytes()[start:]),
		})
	}
	next.body = w.Bytes()
	return next, nil
}

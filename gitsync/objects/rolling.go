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

// rolling is the newest pack as it was last written. It is replaced, never changed: each
// Install writes a new pack with the old entries and the new ones. Of the packs that come
// of one, only the last is kept: they share what they have in common, and the room behind.
type rolling struct {
	base    string // path without ending; "" before the first Install
	body    []byte // all entries, as they stand in the pack
	entries []pack.Placed
	at      map[Hash]location
	commits int
	bases   int // bytes of the body that are trees which others are made of
}

// location is where an entry is, and how many deltas it is made of.
type location struct {
	offset uint32
	depth  uint32
}

// full says that the pack should grow no more. A large tree that others are made
// of does not count: the next pack would need it as well.
func (r *rolling) full() bool { return r.commits >= sealCommits || len(r.body)-r.bases >= sealBytes }

// with returns what the pack becomes with the new objects, which w writes; r stays as it is.
func (r *rolling) with(b *Builder, w *pack.Writer) (*rolling, error) {
	next := &rolling{
		body:    r.body, // what comes is written behind it, where r does not look
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

package objects

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	sealCommits = 64
	sealBytes   = 2 << 20
	packHeader  = 12
)

// rolling is the newest pack as it was last written. It is replaced, never
// changed: each Install writes a new pack with the old entries and the new ones.
type rolling struct {
	base    string // path without ending; "" before the first Install
	body    []byte // all entries, as they stand in the pack
	entries []placed
	at      map[Hash]spot
	commits int
	bases   int // bytes of the body that are trees which others are made of
}

// placed is what an index says of an entry.
type placed struct {
	hash   Hash
	offset uint32
	crc    uint32
}

// spot is where an entry is, and how many deltas it is made of.
type spot struct {
	offset uint32
	depth  uint32
}

// full says that the pack should grow no more. A large tree that others are made
// of does not count: the next pack would need it as well.
func (r *rolling) full() bool { return r.commits >= sealCommits || len(r.body)-r.bases >= sealBytes }

// with returns what the pack becomes with the new objects; r stays as it is.
func (r *rolling) with(b *Builder) (*rolling, error) {
	next := &rolling{
		body:    slices.Clone(r.body),
		entries: slices.Clone(r.entries),
		at:      maps.Clone(r.at),
		commits: r.commits + b.commits,
		bases:   r.bases,
	}
	if next.at == nil {
		next.at = map[Hash]spot{}
	}
	w := newEntryWriter(next.body)
	for _, o := range b.objects {
		if _, ok := next.at[o.hash]; ok {
			continue
		}
		start := w.out.Len()
		if int64(start)+int64(len(o.data)) > 1<<31-1<<20 {
			return nil, fmt.Errorf("cannot write a pack of more than 2 GB")
		}
		here := spot{offset: uint32(packHeader + start)}
		base, ok := next.at[o.base]
		ok = ok && o.delta != nil && base.depth < deltaDepth
		var err error
		if ok {
			here.depth = base.depth + 1
			err = w.delta(int64(here.offset-base.offset), o.delta)
		} else {
			err = w.whole(o.typ, o.data)
		}
		if err != nil {
			return nil, err
		}
		if o.typ == plumbing.TreeObject && !ok {
			next.bases += w.out.Len() - start
		}
		next.at[o.hash] = here
		next.entries = append(next.entries, placed{
			hash:   o.hash,
			offset: here.offset,
			crc:    crc32.ChecksumIEEE(w.out.Bytes()[start:]),
		})
	}
	next.body = w.out.Bytes()
	return next, nil
}

// encode returns the pack, its name and its index of version 2.
func (r *rolling) encode() (pack []byte, name Hash, idx []byte) {
	pack = make([]byte, 0, packHeader+len(r.body)+hashBytes)
	pack = append(pack, "PACK\x00\x00\x00\x02"...)
	pack = binary.BigEndian.AppendUint32(pack, uint32(len(r.entries)))
	pack = append(pack, r.body...)
	name = sha1.Sum(pack)
	pack = append(pack, name[:]...)
	return pack, name, encodeIndex(r.entries, name)
}

func encodeIndex(entries []placed, pack Hash) []byte {
	return encodeSorted(slices.SortedFunc(slices.Values(entries), placed.compare), pack)
}

func (p placed) compare(other placed) int { return bytes.Compare(p.hash[:], other.hash[:]) }

// encodeSorted is encodeIndex for entries in the order of their names.
func encodeSorted(sorted []placed, pack Hash) []byte {
	out := make([]byte, 0, idxHeader+idxFanout+len(sorted)*(hashBytes+8)+idxTrailer)
	out = append(out, 0xff, 't', 'O', 'c', 0, 0, 0, 2)
	at := 0
	for first := range 256 {
		for at < len(sorted) && int(sorted[at].hash[0]) <= first {
			at++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(at))
	}
	for _, e := range sorted {
		out = append(out, e.hash[:]...)
	}
	for _, e := range sorted {
		out = binary.BigEndian.AppendUint32(out, e.crc)
	}
	for _, e := range sorted {
		out = binary.BigEndian.AppendUint32(out, e.offset)
	}
	out = append(out, pack[:]...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

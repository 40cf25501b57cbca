package objects

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
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
	has     map[Hash]bool
	commits int
}

type placed struct {
	hash   Hash
	offset uint32
	crc    uint32
}

// full says that the pack should grow no more.
func (r *rolling) full() bool { return r.commits >= sealCommits || len(r.body) >= sealBytes }

// with returns what the pack becomes with the new objects; r stays as it is.
func (r *rolling) with(b *Builder) (*rolling, error) {
	next := &rolling{
		body:    slices.Clone(r.body),
		entries: slices.Clone(r.entries),
		has:     make(map[Hash]bool, len(r.has)+len(b.objects)),
		commits: r.commits + b.commits,
	}
	for h := range r.has {
		next.has[h] = true
	}
	out := bytes.NewBuffer(next.body)
	z, err := zlib.NewWriterLevel(out, zlib.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("cannot compress: %w", err)
	}
	for _, o := range b.objects {
		if next.has[o.hash] {
			continue
		}
		start := out.Len()
		if int64(start)+int64(len(o.data)) > 1<<31-1<<20 {
			return nil, fmt.Errorf("cannot write a pack of more than 2 GB")
		}
		if err := writeEntry(out, z, o); err != nil {
			return nil, err
		}
		next.has[o.hash] = true
		next.entries = append(next.entries, placed{
			hash:   o.hash,
			offset: uint32(packHeader + start),
			crc:    crc32.ChecksumIEEE(out.Bytes()[start:]),
		})
	}
	next.body = out.Bytes()
	return next, nil
}

// writeEntry writes an object as an entry of a pack.
func writeEntry(out *bytes.Buffer, z *zlib.Writer, o object) error {
	out.Write(entryHeader(o.typ, len(o.data)))
	z.Reset(out)
	if _, err := z.Write(o.data); err != nil {
		return fmt.Errorf("cannot compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("cannot compress: %w", err)
	}
	return nil
}

func entryHeader(typ plumbing.ObjectType, size int) []byte {
	c := byte(typ)<<4 | byte(size&15)
	size >>= 4
	var out []byte
	for size > 0 {
		out = append(out, c|0x80)
		c = byte(size & 0x7f)
		size >>= 7
	}
	return append(out, c)
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
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b placed) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	out := make([]byte, 0, idxHeader+idxFanout+len(entries)*(hashBytes+8)+idxTrailer)
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

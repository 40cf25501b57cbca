package objects

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

const (
	// centerLeast is how many bytes a tree must have for a join to look for another tree of which
	// it can be a delta. centerBytes is how much of such other trees is kept in memory.
	centerLeast = 512
	centerBytes = 32 << 20
)

// joiner writes one pack with the objects of several. It copies entries as they stand, except whole
// trees of the same folder. The newest of these trees stays whole, because it holds most of what
// the older ones hold. The older ones become deltas of it.
type joiner struct {
	folder   packFolder
	sources  []candidate // newest first
	at       map[Hash]uint32
	entries  []pack.Placed
	centers  map[string]center // by the name of their first entry
	centered int               // bytes in centers

	file    *os.File
	out     *bufio.Writer
	sum     hash.Hash
	size    int64
	synced  int64 // how much of size is synced
	own     *pack.Writer
	vary    int           // counts down whole objects that are no trees. At 0 one is written differently
	good    pack.ReadFunc // a good copy of an object; nil if the sources must not be damaged
	mended  int           // how many objects good has given
	idxTemp string        // path of the index before it is in its place
}

// center is a tree that was written whole.
type center struct {
	offset  uint32
	entries []Entry
}

type sourceError struct {
	base string
	err  error
}

func (e *sourceError) Error() string { return filepath.Base(e.base) + ": " + e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

func newJoiner(folder packFolder, sources []candidate) (*joiner, error) {
	j := &joiner{folder: folder, sources: slices.Clone(sources), own: pack.NewWriter(nil)}
	slices.SortFunc(j.sources, func(a, b candidate) int {
		return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(b.base, a.base))
	})
	return j, j.begin()
}

func (j *joiner) write(ctx context.Context) error {
	for _, source := range j.sources {
		p, err := pack.Open(source.base)
		if err == nil {
			err = p.Names(func(h Hash) { j.at[h] = 0 })
		}
		if err != nil {
			return &sourceError{source.base, err}
		}
	}
	j.entries = make([]pack.Placed, 0, len(j.at))
	if err := j.put(pack.Header(len(j.at))); err != nil {
		return err
	}
	for _, source := range j.sources {
		if err := j.copyPack(ctx, source); err != nil {
			return err
		}
	}
	if len(j.entries) != len(j.at) {
		return fmt.Errorf("%d of %d objects were not copied", len(j.at)-len(j.entries), len(j.at))
	}
	return nil
}

// copyPack copies the objects of a source that no newer source had.
func (j *joiner) copyPack(ctx context.Context, source candidate) error {
	entries, err := pack.ReadIndex(source.base)
	if err != nil {
		return &sourceError{source.base, err}
	}
	f, err := os.Open(source.base + ".pack")
	if err != nil {
		return &sourceError{source.base, err}
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReaderSize(f, 256<<10)
	at := uint32(0)
	var raw []byte
	for i, e := range entries {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if j.at[e.Hash] != 0 {
			continue
		}
		end := uint32(source.size - pack.HashBytes)
		if i+1 < len(entries) {
			end = entries[i+1].Offset
		}
		if e.Offset < at || end <= e.Offset && j.good == nil {
			return &sourceError{source.base, fmt.Errorf("%w: its entries overlap", pack.ErrCorrupt)}
		}
		err := io.ErrUnexpectedEOF // the pack ends before it
		if e.Offset < end {
			raw = slices.Grow(raw[:0], int(end-e.Offset))[:end-e.Offset]
			if _, err = in.Discard(int(e.Offset - at)); err == nil {
				_, err = io.ReadFull(in, raw)
			}
			at = end
		}
		if err == nil && crc32.ChecksumIEEE(raw) != e.CRC {
			err = fmt.Errorf("%w: object %s is damaged", pack.ErrCorrupt, e.Hash)
		}
		if err == nil {
			err = j.copyEntry(entries, e, raw)
		} else if j.good != nil {
			if err = j.putGood(e.Hash); err == nil {
				_, err = f.Seek(int64(at), io.SeekStart)
				in.Reset(f)
			}
		}
		if err != nil {
			return &sourceError{source.base, err}
		}
	}
	return nil
}

// putGood writes a good copy of a damaged object, whole.
func (j *joiner) putGood(h Hash) error {
	typ, data, err := j.good(h)
	if err != nil {
		return err
	}
	j.mended++
	j.own.Reset()
	if err := j.own.Whole(typ, data); err != nil {
		return err
	}
	return j.putEntry(h, j.own.Bytes())
}

// copyEntry writes an entry of a source. If the entry is a delta, its base must have been copied
// before. Only a base that the delta names by its hash may follow.
func (j *joiner) copyEntry(source []pack.Placed, e pack.Placed, raw []byte) error {
	in := bytes.NewReader(raw)
	typ, size, err := pack.ReadHeader(in)
	if err != nil {
		return err
	}
	j.own.Reset()
	base := Zero
	switch typ {
	case plumbing.OFSDeltaObject:
		back, err := pack.ReadBack(in)
		if err != nil {
			return err
		}
		i, ok := slices.BinarySearchFunc(source, int64(e.Offset)-back, func(p pack.Placed, at int64) int {
			return cmp.Compare(int64(p.Offset), at)
		})
		if !ok {
			return fmt.Errorf("%w: the base of %s is nowhere", pack.ErrCorrupt, e.Hash)
		}
		base = source[i].Hash
	case plumbing.REFDeltaObject:
		if _, err := io.ReadFull(in, base[:]); err != nil {
			return fmt.Errorf("%w: %w", pack.ErrCorrupt, err)
		}
	case plumbing.TreeObject:
		if size >= centerLeast {
			return j.copyTree(e, raw, in, size)
		}
	default:
		if j.vary--; j.vary == 0 {
			return j.copyVaried(e, raw, in, typ, size)
		}
	}
	if base == Zero {
		return j.putEntry(e.Hash, raw)
	}
	to, there := j.at[base]
	switch {
	case !there:
		return fmt.Errorf("%w: the base of %s is nowhere", pack.ErrCorrupt, e.Hash)
	case to == 0 && typ == plumbing.OFSDeltaObject:
		return fmt.Errorf("%w: the base of %s comes after it", pack.ErrCorrupt, e.Hash)
	case to == 0:
		return j.putEntry(e.Hash, raw)
	}
	j.own.Deflated(j.size-int64(to), size, raw[len(raw)-in.Len():])
	return j.putEntry(e.Hash, j.own.Bytes())
}

// copyTree writes a tree that stands whole. If a newer tree of the same folder is there, the tree
// becomes a delta of it. Two trees count as of the same folder if their first entries have the same
// name.
func (j *joiner) copyTree(e pack.Placed, raw []byte, in io.Reader, size int64) error {
	data, err := pack.Inflate(in, size)
	if err != nil {
		return err
	}
	entries, err := decodeTree(data)
	if err != nil || !isPlain(entries, data) {
		return j.putEntry(e.Hash, raw)
	}
	key := entries[0].Name
	known, ok := j.centers[key]
	if !ok {
		if j.centered += len(data) + len(entries)*entryOverhead; j.centered <= centerBytes {
			j.centers[key] = center{offset: uint32(j.size), entries: entries}
		}
		return j.putEntry(e.Hash, raw)
	}
	delta := treeDelta(known.entries, entries)
	if len(delta) >= len(data)/2 {
		return j.putEntry(e.Hash, raw)
	}
	if err := j.own.Delta(j.size-int64(known.offset), delta); err != nil {
		return err
	}
	return j.putEntry(e.Hash, j.own.Bytes())
}

// copyVaried compresses an object in another way, so that it has other bytes than in its source.
func (j *joiner) copyVaried(e pack.Placed, raw []byte, in io.Reader, typ plumbing.ObjectType, size int64) error {
	data, err := pack.Inflate(in, size)
	if pack.IsLarge(err) {
		return j.putEntry(e.Hash, raw)
	}
	if err != nil {
		return err
	}
	for _, level := range []int{zlib.NoCompression, zlib.BestCompression} {
		w := pack.NewWriterLevel(level)
		if err := w.Whole(typ, data); err != nil {
			return err
		}
		if !bytes.Equal(w.Bytes(), raw) {
			return j.putEntry(e.Hash, w.Bytes())
		}
	}
	return j.putEntry(e.Hash, raw)
}

func (j *joiner) putEntry(h Hash, data []byte) error {
	if j.size+int64(len(data)) > 1<<31-1<<20 {
		return fmt.Errorf("cannot write a pack of more than 2 GB")
	}
	offset := uint32(j.size)
	j.at[h] = offset
	j.entries = append(j.entries, pack.Placed{Hash: h, Offset: offset, CRC: crc32.ChecksumIEEE(data)})
	return j.put(data)
}

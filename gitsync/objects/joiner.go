package objects

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/internal/failpoint"
)

const (
	// centerLeast is how large a tree must be for a join to look for another one
	// to make it of, and centerBytes how much of such others is kept in memory.
	centerLeast = 512
	centerBytes = 32 << 20
	// syncEvery is how much is written between two fsyncs, so that those of a
	// commit need not wait for all of it.
	syncEvery = 8 << 20
)

// joiner writes one pack with the objects of several. Entries are copied as they
// stand. Only trees that stand whole in more than one of the packs are made deltas
// of each other: the newest stays whole, because most of the older ones is in it.
type joiner struct {
	store    *Store
	sources  []candidate // newest first
	at       map[Hash]uint32
	entries  []placed
	centers  map[string]center // by the name of their first entry
	centered int               // bytes in centers

	file    *os.File
	out     *bufio.Writer
	sum     hash.Hash
	size    int64
	synced  int64 // of size
	own     *entryWriter
	vary    int    // after so many objects, write one differently
	idxTemp string // the index, before it is in its place
}

// center is a whole tree that was written.
type center struct {
	offset  uint32
	entries []Entry
}

// sourceError says which pack cannot be joined.
type sourceError struct {
	base string
	err  error
}

func (e *sourceError) Error() string { return filepath.Base(e.base) + ": " + e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

func newJoiner(s *Store, sources []candidate) (*joiner, error) {
	j := &joiner{store: s, sources: slices.Clone(sources), own: newEntryWriter(nil)}
	slices.SortFunc(j.sources, func(a, b candidate) int {
		return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(b.base, a.base))
	})
	return j, j.begin()
}

// begin opens a new temporary file.
func (j *joiner) begin() error {
	f, err := os.CreateTemp(j.store.packDir(), tempPrefix)
	if err != nil {
		return fmt.Errorf("cannot create a file: %w", err)
	}
	j.file, j.sum, j.size, j.synced = f, sha1.New(), 0, 0
	j.out = bufio.NewWriterSize(f, 256<<10)
	j.at, j.entries = map[Hash]uint32{}, nil
	j.centers, j.centered = map[string]center{}, 0
	return nil
}

// discard removes what is not in its place. It may be called twice.
func (j *joiner) discard() {
	_ = j.file.Close() // nothing of it is used
	_ = removeFile(j.file.Name())
	if j.idxTemp != "" {
		_ = removeFile(j.idxTemp)
	}
}

// write writes the pack.
func (j *joiner) write(ctx context.Context) error {
	for _, source := range j.sources {
		p, err := openPack(source.base)
		if err == nil {
			err = p.names(func(h Hash) { j.at[h] = 0 })
		}
		if err != nil {
			return &sourceError{source.base, err}
		}
	}
	j.entries = make([]placed, 0, len(j.at))
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(j.at)))
	if err := j.put(head); err != nil {
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

func (j *joiner) put(data []byte) error {
	j.sum.Write(data)
	j.size += int64(len(data))
	if _, err := j.out.Write(data); err != nil {
		return fmt.Errorf("cannot write a pack: %w", err)
	}
	if j.size-j.synced < syncEvery {
		return nil
	}
	return j.sync()
}

func (j *joiner) sync() error {
	j.synced = j.size
	if err := j.out.Flush(); err != nil {
		return fmt.Errorf("cannot write a pack: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("cannot write a pack: %w", err)
	}
	return nil
}

// copyPack copies what no newer source had.
func (j *joiner) copyPack(ctx context.Context, source candidate) error {
	entries, err := readIndex(source.base)
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
		if j.at[e.hash] != 0 {
			continue
		}
		end := uint32(source.size - hashBytes)
		if i+1 < len(entries) {
			end = entries[i+1].offset
		}
		if e.offset < at || end <= e.offset {
			return &sourceError{source.base, fmt.Errorf("%w: its entries overlap", errCorrupt)}
		}
		raw = slices.Grow(raw[:0], int(end-e.offset))[:end-e.offset]
		_, err := in.Discard(int(e.offset - at))
		if err == nil {
			_, err = io.ReadFull(in, raw)
		}
		if err == nil && crc32.ChecksumIEEE(raw) != e.crc {
			err = fmt.Errorf("%w: object %s is damaged", errCorrupt, e.hash)
		}
		if err != nil {
			return &sourceError{source.base, err}
		}
		at = end
		if err := j.copyEntry(entries, e, raw); err != nil {
			return &sourceError{source.base, err}
		}
	}
	return nil
}

// copyEntry writes an entry of a source. What it is a delta of was copied before;
// only one that is named may follow.
func (j *joiner) copyEntry(source []placed, e placed, raw []byte) error {
	in := bytes.NewReader(raw)
	typ, size, err := readEntryHeader(in)
	if err != nil {
		return err
	}
	j.own.out.Reset()
	base := Zero
	switch typ {
	case plumbing.OFSDeltaObject:
		back, err := readBack(in)
		if err != nil {
			return err
		}
		i, ok := slices.BinarySearchFunc(source, int64(e.offset)-back, func(p placed, at int64) int {
			return cmp.Compare(int64(p.offset), at)
		})
		if !ok {
			return fmt.Errorf("%w: the base of %s is nowhere", errCorrupt, e.hash)
		}
		base = source[i].hash
	case plumbing.REFDeltaObject:
		if _, err := io.ReadFull(in, base[:]); err != nil {
			return fmt.Errorf("%w: %w", errCorrupt, err)
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
		return j.putEntry(e.hash, raw)
	}
	to, there := j.at[base]
	switch {
	case !there:
		return fmt.Errorf("%w: the base of %s is nowhere", errCorrupt, e.hash)
	case to == 0 && typ == plumbing.OFSDeltaObject:
		return fmt.Errorf("%w: the base of %s comes after it", errCorrupt, e.hash)
	case to == 0:
		return j.putEntry(e.hash, raw)
	}
	j.own.out.Write(entryHeader(plumbing.OFSDeltaObject, int(size)))
	j.own.out.Write(encodeBack(j.size - int64(to)))
	j.own.out.Write(raw[len(raw)-in.Len():])
	return j.putEntry(e.hash, j.own.out.Bytes())
}

// copyTree writes a tree that stands whole, as a delta if a newer one of the same
// directory is there. Of the same directory is what begins with the same name.
func (j *joiner) copyTree(e placed, raw []byte, in io.Reader, size int64) error {
	data, err := inflate(in, size)
	if err != nil {
		return err
	}
	entries, err := decodeTree(data)
	if err != nil || !isPlain(entries, data) {
		return j.putEntry(e.hash, raw)
	}
	key := entries[0].Name
	known, ok := j.centers[key]
	if !ok {
		if j.centered += len(data) + len(entries)*entryOverhead; j.centered <= centerBytes {
			j.centers[key] = center{offset: uint32(j.size), entries: entries}
		}
		return j.putEntry(e.hash, raw)
	}
	delta := treeDelta(known.entries, entries)
	if len(delta) >= len(data)/2 {
		return j.putEntry(e.hash, raw)
	}
	if err := j.own.delta(j.size-int64(known.offset), delta); err != nil {
		return err
	}
	return j.putEntry(e.hash, j.own.out.Bytes())
}

// copyVaried writes an object with other bytes than it had.
func (j *joiner) copyVaried(e placed, raw []byte, in io.Reader, typ plumbing.ObjectType, size int64) error {
	data, err := inflate(in, size)
	if err != nil {
		return err
	}
	for _, level := range []int{zlib.NoCompression, zlib.BestCompression} {
		j.own.out.Reset()
		w := newEntryWriter(nil)
		if w.z, err = zlib.NewWriterLevel(w.out, level); err != nil {
			return fmt.Errorf("cannot compress: %w", err)
		}
		if err := w.whole(typ, data); err != nil {
			return err
		}
		if !bytes.Equal(w.out.Bytes(), raw) {
			return j.putEntry(e.hash, w.out.Bytes())
		}
	}
	return j.putEntry(e.hash, raw)
}

func (j *joiner) putEntry(h Hash, data []byte) error {
	if j.size+int64(len(data)) > 1<<31-1<<20 {
		return fmt.Errorf("cannot write a pack of more than 2 GB")
	}
	offset := uint32(j.size)
	j.at[h] = offset
	j.entries = append(j.entries, placed{hash: h, offset: offset, crc: crc32.ChecksumIEEE(data)})
	return j.put(data)
}

// place gives the pack its name and its place, in the order that Store.place has.
// A pack of that name must not be there: it could be one that a gc is about to
// remove.
func (j *joiner) place(ctx context.Context) (base string, err error) {
	name, err := j.finish()
	if err != nil {
		return "", err
	}
	base = filepath.Join(j.store.packDir(), "pack-"+name.String())
	if _, err := os.Stat(base + ".pack"); err == nil {
		if base, err = j.again(ctx); err != nil {
			return "", err
		}
	}
	if err := writeAtomically(base+".keep", joinedKeep(j.sources)); err != nil {
		return "", err
	}
	failpoint.Hit(failpoint.PackPlacing)
	if err := os.Rename(j.file.Name(), base+".pack"); err != nil {
		return "", fmt.Errorf("cannot put a pack in place: %w", err)
	}
	failpoint.Hit(failpoint.PackPlacing)
	if err := os.Rename(j.idxTemp, base+".idx"); err != nil {
		return "", fmt.Errorf("cannot put a pack in place: %w", err)
	}
	failpoint.Hit(failpoint.PackPlaced)
	if err := syncDir(j.store.packDir()); err != nil {
		return "", err
	}
	failpoint.Hit(failpoint.PackJoined)
	return base, nil
}

// again writes the pack once more, so that it gets another name.
func (j *joiner) again(ctx context.Context) (base string, err error) {
	for range 10 {
		j.discard()
		j.vary = 1 + rand.IntN(len(j.entries))
		if err := j.begin(); err != nil {
			return "", err
		}
		if err := j.write(ctx); err != nil {
			return "", err
		}
		name, err := j.finish()
		if err != nil {
			return "", err
		}
		base = filepath.Join(j.store.packDir(), "pack-"+name.String())
		if _, err := os.Stat(base + ".pack"); err != nil {
			return base, nil
		}
	}
	return "", errors.New("a pack with the same content is there already")
}

// finish ends the files; they are durable, but not in their places. The pack is as
// old as the newest of its sources: git takes its age for that of the objects.
func (j *joiner) finish() (name Hash, err error) {
	name = Hash(j.sum.Sum(nil))
	if err := j.put(name[:]); err != nil {
		return Zero, err
	}
	if err := j.sync(); err != nil {
		return Zero, err
	}
	if err := errors.Join(j.file.Chmod(0o644), j.file.Close()); err != nil {
		return Zero, fmt.Errorf("cannot write a pack: %w", err)
	}
	newest := j.sources[0].modified
	if err := os.Chtimes(j.file.Name(), time.Time{}, newest); err != nil {
		return Zero, fmt.Errorf("cannot write a pack: %w", err)
	}
	slices.SortFunc(j.entries, placed.compare)
	j.idxTemp = j.file.Name() + "_idx"
	if err := writeAtomically(j.idxTemp, encodeSorted(j.entries, name)); err != nil {
		return Zero, err
	}
	if err := os.Chtimes(j.idxTemp, time.Time{}, newest); err != nil {
		return Zero, fmt.Errorf("cannot write a pack: %w", err)
	}
	return name, nil
}

// readIndex is the whole index of a pack of less than 2 GB, in the order of the
// pack.
func readIndex(base string) ([]placed, error) {
	p, err := openPack(base)
	if err != nil {
		return nil, err
	}
	r, done, err := p.index()
	if err != nil {
		return nil, err
	}
	defer done()
	table := func(from, width int64) *bufio.Reader {
		return bufio.NewReaderSize(io.NewSectionReader(r, idxHeader+idxFanout+from*p.count, width*p.count), 64<<10)
	}
	names, crcs, offsets := table(0, hashBytes), table(hashBytes, 4), table(hashBytes+4, 4)
	entries := make([]placed, p.count)
	for i := range entries {
		var word [8]byte
		_, err := io.ReadFull(names, entries[i].hash[:])
		if err == nil {
			_, err = io.ReadFull(crcs, word[:4])
		}
		if err == nil {
			_, err = io.ReadFull(offsets, word[4:])
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s.idx: %w", base, err)
		}
		entries[i].crc, entries[i].offset = binary.BigEndian.Uint32(word[:]), binary.BigEndian.Uint32(word[4:])
		if entries[i].offset >= 1<<31 || entries[i].offset < packHeader {
			return nil, fmt.Errorf("%w: %s.idx has an offset of %d", errCorrupt, base, entries[i].offset)
		}
	}
	slices.SortFunc(entries, func(a, b placed) int { return cmp.Compare(a.offset, b.offset) })
	return entries, nil
}

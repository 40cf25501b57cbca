package objects

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"time"
)

const (
	idxHeader  = 8
	idxFanout  = 256 * 4
	idxTrailer = 40
	hashBytes  = 20
	smallIndex = 1 << 20 // indexes up to this size are kept in memory
)

var errCorrupt = errors.New("corrupt pack")

// pack is the index of one pack. The pack itself is opened for each read.
type pack struct {
	base     string // path without ending
	modified time.Time
	idxFile  os.FileInfo // the files that were opened
	packFile os.FileInfo
	whole    bool // the pack ends as the index says
	count    int64
	size     int64 // of the idx
	fanout   [256]uint32
	memory   []byte // the whole idx, or nil if it is read from disk each time
}

// openPack reads the index of a pack. The error is fs.ErrNotExist where the index or
// the pack is not there.
func openPack(base string) (*pack, error) {
	p, err := openIndex(base)
	if err != nil {
		return nil, err
	}
	return p, p.lookAtEnd()
}

// lookAtEnd looks whether the pack is there and has the end that its index says.
func (p *pack) lookAtEnd() error {
	f, err := os.Open(p.base + ".pack")
	if err != nil {
		return fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	if p.packFile, err = f.Stat(); err != nil {
		return fmt.Errorf("cannot open a pack: %w", err)
	}
	r, done, err := p.index()
	if err != nil {
		return err
	}
	defer done()
	var end, noted [hashBytes]byte
	if _, err := r.ReadAt(noted[:], p.size-idxTrailer); err != nil {
		return fmt.Errorf("cannot read %s.idx: %w", p.base, err)
	}
	_, err = f.ReadAt(end[:], max(0, p.packFile.Size()-hashBytes))
	p.whole = err == nil && end == noted
	return nil
}

func openIndex(base string) (*pack, error) {
	f, err := os.Open(base + ".idx")
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack's index: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack's index: %w", err)
	}
	p := &pack{base: base, modified: info.ModTime(), idxFile: info, size: info.Size()}
	if info.Size() <= smallIndex {
		p.memory = make([]byte, info.Size())
		if _, err := io.ReadFull(f, p.memory); err != nil {
			return nil, fmt.Errorf("cannot read a pack's index: %w", err)
		}
		return p, p.readHeader(bytes.NewReader(p.memory))
	}
	return p, p.readHeader(f)
}

func (p *pack) readHeader(r io.ReaderAt) error {
	head := make([]byte, idxHeader+idxFanout)
	if _, err := r.ReadAt(head, 0); err != nil {
		return fmt.Errorf("%w: %s.idx is too short", errCorrupt, p.base)
	}
	if !bytes.Equal(head[:8], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return fmt.Errorf("%w: %s.idx is not an index of version 2", errCorrupt, p.base)
	}
	last := uint32(0)
	for i := range p.fanout {
		n := binary.BigEndian.Uint32(head[idxHeader+4*i:])
		if n < last {
			return fmt.Errorf("%w: %s.idx has a fan-out that falls", errCorrupt, p.base)
		}
		p.fanout[i], last = n, n
	}
	p.count = int64(last)
	if p.size < idxHeader+idxFanout+p.count*(hashBytes+4+4)+idxTrailer {
		return fmt.Errorf("%w: %s.idx is cut short", errCorrupt, p.base)
	}
	return nil
}

// index opens the index for reading; done must be called after.
func (p *pack) index() (r io.ReaderAt, done func(), err error) {
	if p.memory != nil {
		return bytes.NewReader(p.memory), func() {}, nil
	}
	f, err := os.Open(p.base + ".idx")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open a pack's index: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}

// nearNames is how many names are read at once where one is expected: of 4,096
// names that are spread evenly, hardly one stands further away.
const nearNames = 192

// find returns the offset of an object in the pack.
func (p *pack) find(h Hash) (int64, bool, error) {
	low := int64(0)
	if h[0] > 0 {
		low = int64(p.fanout[h[0]-1])
	}
	high := int64(p.fanout[h[0]])
	if low == high {
		return 0, false, nil
	}
	r, done, err := p.index()
	if err != nil {
		return 0, false, err
	}
	defer done()
	if p.memory != nil {
		i, found := searchNames(p.memory[idxHeader+idxFanout+low*hashBytes:idxHeader+idxFanout+high*hashBytes], h)
		if !found {
			return 0, false, nil
		}
		offset, err := p.offset(r, low+int64(i))
		return offset, err == nil, err
	}
	names := make([]byte, nearNames*hashBytes)
	share := float64(binary.BigEndian.Uint32(h[1:])) / (1 << 32)
	for low < high {
		// Names are spread evenly; a few at the place where h should be will do.
		from := low
		if n := high - low; n > nearNames {
			from = min(max(low, low+int64(share*float64(n))-nearNames/2), high-nearNames)
		}
		share = 0.5 // of what is left where that was not enough
		near := names[:min(nearNames, high-from)*hashBytes]
		if _, err := r.ReadAt(near, idxHeader+idxFanout+from*hashBytes); err != nil {
			return 0, false, fmt.Errorf("cannot read %s.idx: %w", p.base, err)
		}
		i, found := searchNames(near, h)
		switch {
		case found:
			offset, err := p.offset(r, from+int64(i))
			return offset, err == nil, err
		case i == 0:
			high = from
		case i == len(near)/hashBytes:
			low = from + int64(i)
		default:
			return 0, false, nil
		}
	}
	return 0, false, nil
}

// searchNames is where a name is, or would be, among sorted ones.
func searchNames(names []byte, h Hash) (int, bool) {
	return sort.Find(len(names)/hashBytes, func(i int) int { return bytes.Compare(h[:], names[i*hashBytes:(i+1)*hashBytes]) })
}

func (p *pack) offset(r io.ReaderAt, i int64) (int64, error) {
	table := idxHeader + idxFanout + p.count*(hashBytes+4)
	var word [8]byte
	if _, err := r.ReadAt(word[:4], table+4*i); err != nil {
		return 0, fmt.Errorf("cannot read %s.idx: %w", p.base, err)
	}
	n := int64(binary.BigEndian.Uint32(word[:4]))
	if n&(1<<31) == 0 {
		return n, nil
	}
	n &^= 1 << 31
	if _, err := r.ReadAt(word[:], table+4*p.count+8*n); err != nil {
		return 0, fmt.Errorf("cannot read %s.idx: %w", p.base, err)
	}
	return int64(binary.BigEndian.Uint64(word[:]) &^ (1 << 63)), nil
}

// names calls visit with each object of the pack.
func (p *pack) names(visit func(Hash)) error {
	r, done, err := p.index()
	if err != nil {
		return err
	}
	defer done()
	in := bufio.NewReader(io.NewSectionReader(r, idxHeader+idxFanout, p.count*hashBytes))
	for range p.count {
		var h Hash
		if _, err := io.ReadFull(in, h[:]); err != nil {
			return fmt.Errorf("cannot read %s.idx: %w", p.base, err)
		}
		visit(h)
	}
	return nil
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

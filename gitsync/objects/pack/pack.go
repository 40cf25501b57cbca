package pack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Hash names an object, or a pack.
type Hash = plumbing.Hash

// HashBytes is how many bytes a Hash has.
const HashBytes = 20

// ErrCorrupt says that a file holds something that git would not have written.
var ErrCorrupt = errors.New("corrupt pack")

// smallIndex is how many bytes an index may have to be kept in memory.
const smallIndex = 1 << 20

// Pack is the index of one pack. The pack itself is opened for each read.
type Pack struct {
	Base     string // path without ending
	Modified time.Time
	Whole    bool        // the pack ends as the index says
	Count    int64       // how many objects the pack has
	idxFile  os.FileInfo // the files as they were when they were opened
	packFile os.FileInfo
	size     int64 // bytes of the .idx
	fanout   [256]uint32
	memory   []byte // the whole .idx, or nil if it is read from the disk each time
}

// Open reads the index of a pack. The error is fs.ErrNotExist if the index or the pack is not
// there.
func Open(base string) (*Pack, error) {
	p, err := openIndex(base)
	if err != nil {
		return nil, err
	}
	return p, p.lookAtEnd()
}

// lookAtEnd returns an error if the pack is not there. It notes whether the pack has the end that
// its index says.
func (p *Pack) lookAtEnd() error {
	f, err := os.Open(p.Base + ".pack")
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
	var end, noted [HashBytes]byte
	if _, err := r.ReadAt(noted[:], p.size-idxTrailer); err != nil {
		return fmt.Errorf("cannot read %s.idx: %w", p.Base, err)
	}
	_, err = f.ReadAt(end[:], max(0, p.packFile.Size()-HashBytes))
	p.Whole = err == nil && end == noted
	return nil
}

func openIndex(base string) (*Pack, error) {
	f, err := os.Open(base + ".idx")
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack's index: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack's index: %w", err)
	}
	p := &Pack{Base: base, Modified: info.ModTime(), idxFile: info, size: info.Size()}
	if info.Size() <= smallIndex {
		p.memory = make([]byte, info.Size())
		if _, err := io.ReadFull(f, p.memory); err != nil {
			return nil, fmt.Errorf("cannot read a pack's index: %w", err)
		}
		return p, p.readHeader(bytes.NewReader(p.memory))
	}
	return p, p.readHeader(f)
}

// InMemory returns the pack with its index in memory, however large the index is.
func (p *Pack) InMemory() (*Pack, error) {
	inMemory := *p
	if p.memory == nil {
		var err error
		if inMemory.memory, err = os.ReadFile(p.Base + ".idx"); err != nil {
			return nil, fmt.Errorf("cannot read a pack's index: %w", err)
		}
	}
	return &inMemory, nil
}

// Size returns how many bytes the pack had when it was opened.
func (p *Pack) Size() int64 { return p.packFile.Size() }

func (p *Pack) readHeader(r io.ReaderAt) error {
	head := make([]byte, idxHeader+idxFanout)
	if _, err := r.ReadAt(head, 0); err != nil {
		return fmt.Errorf("%w: %s.idx is too short", ErrCorrupt, p.Base)
	}
	if !bytes.Equal(head[:8], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return fmt.Errorf("%w: %s.idx is not an index of version 2", ErrCorrupt, p.Base)
	}
	last := uint32(0)
	for i := range p.fanout {
		n := binary.BigEndian.Uint32(head[idxHeader+4*i:])
		if n < last {
			return fmt.Errorf("%w: %s.idx has a fan-out that falls", ErrCorrupt, p.Base)
		}
		p.fanout[i], last = n, n
	}
	p.Count = int64(last)
	if p.size < idxHeader+idxFanout+p.Count*(HashBytes+4+4)+idxTrailer {
		return fmt.Errorf("%w: %s.idx is cut short", ErrCorrupt, p.Base)
	}
	return nil
}

// index opens the index for reading. The caller must call done afterwards.
func (p *Pack) index() (r io.ReaderAt, done func(), err error) {
	if p.memory != nil {
		return bytes.NewReader(p.memory), func() {}, nil
	}
	f, err := os.Open(p.Base + ".idx")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open a pack's index: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}

// nearNames is how many names are read at once around the place where a name is expected. If 4,096
// names are spread evenly, hardly one of them stands further away from its place.
const nearNames = 192

// Find returns the offset of an object in the pack.
func (p *Pack) Find(h Hash) (int64, bool, error) {
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
		i, found := searchNames(p.memory[idxHeader+idxFanout+low*HashBytes:idxHeader+idxFanout+high*HashBytes], h)
		if !found {
			return 0, false, nil
		}
		offset, err := p.offset(r, low+int64(i))
		return offset, err == nil, err
	}
	names := make([]byte, nearNames*HashBytes)
	share := float64(binary.BigEndian.Uint32(h[1:])) / (1 << 32)
	for low < high {
		// Names are spread evenly. So it is enough to read a few where h should be.
		from := low
		if n := high - low; n > nearNames {
			from = min(max(low, low+int64(share*float64(n))-nearNames/2), high-nearNames)
		}
		share = 0.5 // if that was not enough, look in the middle of what is left
		near := names[:min(nearNames, high-from)*HashBytes]
		if _, err := r.ReadAt(near, idxHeader+idxFanout+from*HashBytes); err != nil {
			return 0, false, fmt.Errorf("cannot read %s.idx: %w", p.Base, err)
		}
		i, found := searchNames(near, h)
		switch {
		case found:
			offset, err := p.offset(r, from+int64(i))
			return offset, err == nil, err
		case i == 0:
			high = from
		case i == len(near)/HashBytes:
			low = from + int64(i)
		default:
			return 0, false, nil
		}
	}
	return 0, false, nil
}

func searchNames(names []byte, h Hash) (int, bool) {
	return sort.Find(len(names)/HashBytes, func(i int) int { return bytes.Compare(h[:], names[i*HashBytes:(i+1)*HashBytes]) })
}

func (p *Pack) offset(r io.ReaderAt, i int64) (int64, error) {
	table := idxHeader + idxFanout + p.Count*(HashBytes+4)
	var word [8]byte
	if _, err := r.ReadAt(word[:4], table+4*i); err != nil {
		return 0, fmt.Errorf("cannot read %s.idx: %w", p.Base, err)
	}
	n := int64(binary.BigEndian.Uint32(word[:4]))
	if n&(1<<31) == 0 {
		return n, nil
	}
	n &^= 1 << 31
	if _, err := r.ReadAt(word[:], table+4*p.Count+8*n); err != nil {
		return 0, fmt.Errorf("cannot read %s.idx: %w", p.Base, err)
	}
	return int64(binary.BigEndian.Uint64(word[:]) &^ (1 << 63)), nil
}

// Names calls visit with each object of the pack.
func (p *Pack) Names(visit func(Hash)) error {
	r, done, err := p.index()
	if err != nil {
		return err
	}
	defer done()
	in := bufio.NewReader(io.NewSectionReader(r, idxHeader+idxFanout, p.Count*HashBytes))
	for range p.Count {
		var h Hash
		if _, err := io.ReadFull(in, h[:]); err != nil {
			return fmt.Errorf("cannot read %s.idx: %w", p.Base, err)
		}
		visit(h)
	}
	return nil
}

// Located is an object and where it begins in a pack.
type Located struct {
	Hash   Hash
	Offset int64
}

// InOrder returns the objects of a pack in its order. lost are those for which its index gives no
// place.
func (p *Pack) InOrder() (all []Located, lost []Hash, err error) {
	all = make([]Located, 0, p.Count)
	err = p.Names(func(h Hash) {
		offset, ok, err := p.Find(h)
		if err != nil || !ok {
			lost = append(lost, h)
			return
		}
		all = append(all, Located{h, offset})
	})
	slices.SortFunc(all, func(a, b Located) int { return int(a.Offset - b.Offset) })
	return all, lost, err
}

// IsThere reports whether the pack is still the file that was opened. It does not compare the time
// of the file: git sets that anew when it would write an object that the pack has.
func (p *Pack) IsThere() bool { return isFile(p.Base+".pack", p.packFile) }

// IsStill reports whether both files of a pack are still those that were opened. entry is the index
// as it is now. An index that was damaged is written again under the same name.
func (p *Pack) IsStill(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && info.ModTime().Equal(p.Modified) && p.IsThere() && isFile(p.Base+".idx", p.idxFile)
}

func isFile(path string, known os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, known) && now.Size() == known.Size()
}

// OfType calls visit with each object of a pack that has the type typ. It leaves out objects for
// which the heads of entries cannot be read.
func (p *Pack) OfType(typ plumbing.ObjectType, visit func(Hash)) error {
	f, err := os.Open(p.Base + ".pack")
	if err != nil {
		return fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	var names []Hash
	if err := p.Names(func(h Hash) { names = append(names, h) }); err != nil {
		return err
	}
	for _, h := range names {
		offset, ok, err := p.Find(h)
		if err == nil && ok && p.typeAt(f, offset) == typ {
			visit(h)
		}
	}
	return nil
}

// typeAt returns the type of the object at offset. It reads only the head of the entry and, for a
// delta, the heads of the entries of its bases.
func (p *Pack) typeAt(f io.ReaderAt, offset int64) plumbing.ObjectType {
	for range maxDeltaDepth {
		head := make([]byte, 48)
		n, _ := f.ReadAt(head, offset) // reads less if the pack ends before, or is cut short
		in := bytes.NewReader(head[:n])
		typ, _, err := ReadHeader(in)
		if err != nil {
			return plumbing.InvalidObject
		}
		switch typ {
		case plumbing.OFSDeltaObject:
			back, err := ReadBack(in)
			if err != nil || back <= 0 || back >= offset {
				return plumbing.InvalidObject
			}
			offset -= back
		case plumbing.REFDeltaObject:
			var base Hash
			_, err := io.ReadFull(in, base[:])
			at, ok, findErr := p.Find(base)
			if err != nil || findErr != nil || !ok {
				return plumbing.InvalidObject
			}
			offset = at
		default:
			return typ
		}
	}
	return plumbing.InvalidObject
}

package pack

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	idxHeader  = 8
	idxFanout  = 256 * 4
	idxTrailer = 2 * HashBytes
)

// Placed is what an index says about an entry.
type Placed struct {
	Hash   Hash
	Offset uint32
	CRC    uint32
}

// EncodeIndex returns the index, of version 2, of a pack of less than 2 GB.
func EncodeIndex(entries []Placed, pack Hash) []byte {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, Placed.Compare)
	return EncodeSorted(sorted, pack)
}

// Compare orders entries by the names of their objects.
func (p Placed) Compare(other Placed) int { return bytes.Compare(p.Hash[:], other.Hash[:]) }

// EncodeSorted is EncodeIndex for entries that are in the order of the names of their objects.
func EncodeSorted(sorted []Placed, pack Hash) []byte {
	out := make([]byte, 0, idxHeader+idxFanout+len(sorted)*(HashBytes+8)+idxTrailer)
	out = append(out, 0xff, 't', 'O', 'c', 0, 0, 0, 2)
	at := 0
	for first := range 256 {
		for at < len(sorted) && int(sorted[at].Hash[0]) <= first {
			at++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(at))
	}
	for _, e := range sorted {
		out = append(out, e.Hash[:]...)
	}
	for _, e := range sorted {
		out = binary.BigEndian.AppendUint32(out, e.CRC)
	}
	for _, e := range sorted {
		out = binary.BigEndian.AppendUint32(out, e.Offset)
	}
	out = append(out, pack[:]...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// NameOf returns the name of the pack to which an index belongs.
func NameOf(idx []byte) Hash {
	return Hash(idx[len(idx)-idxTrailer : len(idx)-HashBytes])
}

// CountOf returns how many objects a pack of less than 2 GB has, from the size of its index.
func CountOf(idxSize int64) int64 {
	return (idxSize - idxHeader - idxFanout - idxTrailer) / (HashBytes + 8)
}

// ReadIndex returns the whole index of a pack of less than 2 GB, in the order of the pack.
func ReadIndex(base string) ([]Placed, error) {
	p, err := Open(base)
	if err != nil {
		return nil, err
	}
	r, done, err := p.index()
	if err != nil {
		return nil, err
	}
	defer done()
	table := func(from, width int64) *bufio.Reader {
		return bufio.NewReaderSize(io.NewSectionReader(r, idxHeader+idxFanout+from*p.Count, width*p.Count), 64<<10)
	}
	names, crcs, offsets := table(0, HashBytes), table(HashBytes, 4), table(HashBytes+4, 4)
	entries := make([]Placed, p.Count)
	for i := range entries {
		var word [8]byte
		_, err := io.ReadFull(names, entries[i].Hash[:])
		if err == nil {
			_, err = io.ReadFull(crcs, word[:4])
		}
		if err == nil {
			_, err = io.ReadFull(offsets, word[4:])
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s.idx: %w", base, err)
		}
		entries[i].CRC, entries[i].Offset = binary.BigEndian.Uint32(word[:]), binary.BigEndian.Uint32(word[4:])
		if entries[i].Offset >= 1<<31 || entries[i].Offset < HeaderBytes {
			return nil, fmt.Errorf("%w: %s.idx has an offset of %d", ErrCorrupt, base, entries[i].Offset)
		}
	}
	slices.SortFunc(entries, func(a, b Placed) int { return cmp.Compare(a.Offset, b.Offset) })
	return entries, nil
}

// IndexOf reads a pack to its end and returns an index for it.
func IndexOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	index := new(idxfile.Writer)
	parser, err := packfile.NewParser(packfile.NewScanner(f), index)
	if err != nil {
		return nil, fmt.Errorf("cannot read a pack: %w", err)
	}
	if _, err := parser.Parse(); err != nil {
		return nil, fmt.Errorf("cannot read a pack: %w", err)
	}
	memory, err := index.Index()
	if err != nil {
		return nil, fmt.Errorf("cannot index a pack: %w", err)
	}
	var out bytes.Buffer
	if _, err := idxfile.NewEncoder(&out).Encode(memory); err != nil {
		return nil, fmt.Errorf("cannot index a pack: %w", err)
	}
	return out.Bytes(), nil
}

// maxPackNames bounds how many bytes are read of the names in an index over many packs.
const maxPackNames = 16 << 20

// MultiIndexNames returns the names, without ending, of the packs that an index over many packs
// covers.
func MultiIndexNames(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the index over many packs: %w", err)
	}
	defer func() { _ = f.Close() }()
	return decodeMultiIndex(f)
}

// decodeMultiIndex reads the chunk PNAM of the format that git describes in gitformat-pack.
func decodeMultiIndex(r io.ReaderAt) (map[string]bool, error) {
	head := make([]byte, 12)
	if _, err := r.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, []byte("MIDX\x01")) {
		return nil, fmt.Errorf("%w: no index over many packs of version 1", ErrCorrupt)
	}
	table := make([]byte, 12*(int(head[6])+1))
	if _, err := r.ReadAt(table, 12); err != nil {
		return nil, fmt.Errorf("%w: an index over many packs is too short", ErrCorrupt)
	}
	for ; len(table) > 12; table = table[12:] {
		if string(table[:4]) != "PNAM" {
			continue
		}
		from, to := binary.BigEndian.Uint64(table[4:]), binary.BigEndian.Uint64(table[16:])
		if to < from || to-from > maxPackNames || to > 1<<62 {
			return nil, fmt.Errorf("%w: an index over many packs has a chunk of %d bytes", ErrCorrupt, to-from)
		}
		data := make([]byte, to-from)
		if _, err := r.ReadAt(data, int64(from)); err != nil {
			return nil, fmt.Errorf("%w: an index over many packs is too short", ErrCorrupt)
		}
		names := map[string]bool{}
		for name := range bytes.SplitSeq(data, []byte{0}) {
			if len(name) > 0 {
				names[strings.TrimSuffix(strings.TrimSuffix(string(name), ".idx"), ".pack")] = true
			}
		}
		return names, nil
	}
	return nil, fmt.Errorf("%w: an index over many packs names none", ErrCorrupt)
}

package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
)

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

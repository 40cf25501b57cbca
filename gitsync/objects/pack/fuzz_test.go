package pack

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

func FuzzPack(f *testing.F) {
	w := NewWriter(nil)
	if err := w.Whole(plumbing.BlobObject, bytes.Repeat([]byte("text "), 100)); err != nil {
		f.Fatal(err)
	}
	data, _, _ := Encode(w.Bytes(), []Placed{{Hash: blobHash(nil), Offset: HeaderBytes}})
	f.Add(data, int64(HeaderBytes))
	delta := append([]byte{0x60 | 6, 2}, deflate([]byte{5, 5, 0x90, 5, 1, 1})...)
	f.Add(slices.Concat(data[:HeaderBytes], w.Bytes(), delta, make([]byte, HashBytes)), int64(HeaderBytes+w.Len()))
	f.Fuzz(func(t *testing.T, data []byte, offset int64) {
		r := Reader{
			In: bytes.NewReader(data), End: int64(len(data)) - HashBytes,
			Find:  func(Hash) (int64, bool, error) { return offset, true, nil },
			Other: func(Hash) (plumbing.ObjectType, []byte, error) { return 0, nil, errors.New("nowhere") },
		}
		_, _, _ = r.Object(offset)
	})
}

func deflate(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(data)
	_ = z.Close()
	return out.Bytes()
}

func FuzzIndex(f *testing.F) {
	f.Add(EncodeIndex([]Placed{{Hash: blobHash([]byte("text")), Offset: 12}, {Hash: blobHash(nil), Offset: 99}}, Hash{}), make([]byte, HashBytes))
	base := filepath.Join(f.TempDir(), "pack-x")
	f.Fuzz(func(t *testing.T, data, name []byte) {
		if len(data) > idxHeader+idxFanout && len(data)%7 == 0 {
			binary.BigEndian.PutUint64(data, 0xff744f6300000002)
		}
		if err := os.WriteFile(base+".idx", data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := openIndex(base)
		if err != nil {
			return
		}
		var h Hash
		copy(h[:], name)
		_, _, _ = p.Find(h)
		_ = p.Names(func(Hash) {})
	})
}

// FuzzPatch compares with go-git's own. That one takes a header that ends too early for
// that of nothing.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("abc"), []byte{3, 4, 0x90, 3, 1, 'x'})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		want, wantErr := packfile.PatchDelta(bytes.Clone(base), delta)
		got, err := patch(nil, base, delta)
		if wantErr == nil && len(want) > 0 && (err != nil || !bytes.Equal(got, want)) {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
		if again, err2 := patch(make([]byte, 0, 100), base, delta); (err == nil) != (err2 == nil) || !bytes.Equal(again, got) {
			t.Fatalf("with a buffer: %q, %v; without: %q, %v", again, err2, got, err)
		}
	})
}

func FuzzMultiIndex(f *testing.F) {
	seed := append([]byte("MIDX\x01\x01\x01\x00\x00\x00\x00\x01PNAM"), 0, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 46)
	f.Add(append(seed, "pack-x.idx"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if names, err := decodeMultiIndex(bytes.NewReader(data)); err == nil && len(names) > len(data) {
			t.Fatal(names)
		}
	})
}

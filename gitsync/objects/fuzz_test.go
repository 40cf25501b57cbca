package objects

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

func FuzzTree(f *testing.F) {
	f.Add(encodeTree([]Entry{{Name: "a", Mode: ModeFile}, {Name: "b", Mode: ModeDir}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeTree(data)
		if err != nil {
			return
		}
		again, err := decodeTree(encodeTree(entries))
		if err != nil || !slices.Equal(entries, again) {
			t.Fatalf("read again: %v, %v", again, err)
		}
	})
}

func FuzzCommit(f *testing.F) {
	f.Add(encodeCommit(Commit{Tree: emptyTree, Parents: []Hash{emptyTree}, Author: Identity{"a", "b"}, Message: "m"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeCommit(data)
		if err != nil {
			return
		}
		again, err := decodeCommit(encodeCommit(c))
		if err != nil || again.Tree != c.Tree || !slices.Equal(again.Parents, c.Parents) || again.Author != c.Author.Clean() {
			t.Fatalf("read again: %+v, %v", again, err)
		}
	})
}

func FuzzPack(f *testing.F) {
	r := &rolling{}
	var b Builder
	b.Blob(bytes.Repeat([]byte("text "), 100))
	next, err := r.with(&b)
	if err != nil {
		f.Fatal(err)
	}
	pack, _, _ := next.encode()
	f.Add(pack, int64(packHeader))
	delta := append([]byte{0x60 | 6, 2}, deflate([]byte{5, 5, 0x90, 5, 1, 1})...)
	f.Add(slices.Concat(pack[:packHeader], next.body, delta, make([]byte, hashBytes)), int64(packHeader+len(next.body)))
	f.Fuzz(func(t *testing.T, data []byte, offset int64) {
		p := packReader{
			in: bytes.NewReader(data), end: int64(len(data)) - hashBytes,
			find:  func(Hash) (int64, bool, error) { return offset, true, nil },
			other: func(Hash) (plumbing.ObjectType, []byte, error) { return 0, nil, ErrNotFound },
		}
		_, _, _ = p.object(offset)
	})
}

func deflate(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(data)
	_ = z.Close()
	return out.Bytes()
}

func FuzzLoose(f *testing.F) {
	f.Add([]byte("blob 3\x00abc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if typ, content, err := decodeLoose(bytes.NewReader(deflate(data))); err == nil && !bytes.HasSuffix(data, content) {
			t.Fatalf("%s of %d bytes", typ, len(content))
		}
		_, _, _ = decodeLoose(bytes.NewReader(data))
	})
}

func FuzzIndex(f *testing.F) {
	f.Add(encodeIndex([]placed{{hash: emptyTree, offset: 12}, {hash: BlobHash(nil), offset: 99}}, Zero), emptyTree[:])
	base := filepath.Join(f.TempDir(), "pack-x")
	f.Fuzz(func(t *testing.T, data, name []byte) {
		if len(data) > idxHeader+idxFanout && len(data)%7 == 0 {
			binary.BigEndian.PutUint64(data, 0xff744f6300000002)
		}
		if err := os.WriteFile(base+".idx", data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := openPack(base)
		if err != nil {
			return
		}
		var h Hash
		copy(h[:], name)
		_, _, _ = p.find(h)
		_ = p.names(func(Hash) {})
	})
}

package objects

import (
	"bytes"
	"compress/zlib"
	"slices"
	"testing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
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
		if typ, content, err := decodeLoose(bytes.NewReader(deflate(data)), pack.MaxObject); err == nil && !bytes.HasSuffix(data, content) {
			t.Fatalf("%s of %d bytes", typ, len(content))
		}
		_, _, _ = decodeLoose(bytes.NewReader(data), pack.MaxObject)
	})
}

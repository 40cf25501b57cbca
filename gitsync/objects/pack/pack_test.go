package pack

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// blobHash is the name that git gives to a blob of data.
func blobHash(data []byte) Hash { return plumbing.ComputeHash(plumbing.BlobObject, data) }

func TestLargeIndexIsReadFromDisk(t *testing.T) {
	var entries []Placed
	for n := range 40_000 {
		entries = append(entries, Placed{Hash: blobHash(fmt.Append(nil, n)), Offset: uint32(12 + n)})
	}
	base := filepath.Join(t.TempDir(), "pack-x")
	if err := os.WriteFile(base+".idx", EncodeIndex(entries, Hash{}), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := openIndex(base)
	if err != nil || p.memory != nil {
		t.Fatalf("openIndex: %v; in memory: %v", err, p.memory != nil)
	}
	for n := 0; n < 40_000; n += 997 {
		offset, ok, err := p.Find(blobHash(fmt.Append(nil, n)))
		if err != nil || !ok || offset != int64(12+n) {
			t.Fatalf("find(%d) = %d, %v, %v", n, offset, ok, err)
		}
	}
	if _, ok, err := p.Find(blobHash([]byte("nothing"))); ok || err != nil {
		t.Errorf("find of nothing: %v, %v", ok, err)
	}
}

// Names need not be spread as evenly as those of objects are.
func TestFindAmongUnevenNames(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for _, zeros := range []int{0, 1, 3, 8} {
		name := func(n int) Hash {
			h := blobHash(fmt.Append(nil, n))
			h[0] = 7
			clear(h[1 : 1+zeros])
			return h
		}
		var entries []Placed
		for n := range 40_000 {
			entries = append(entries, Placed{Hash: name(n), Offset: uint32(12 + n)})
		}
		base := filepath.Join(t.TempDir(), "pack-x")
		if err := os.WriteFile(base+".idx", EncodeIndex(entries, Hash{}), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := openIndex(base)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			n := random.IntN(80_000)
			offset, ok, err := p.Find(name(n))
			if err != nil || ok != (n < 40_000) || ok && offset != int64(12+n) {
				t.Fatalf("%d zeros: find(%d) = %d, %v, %v", zeros, n, offset, ok, err)
			}
		}
	}
}

package objects

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/rs/zerolog"
)

// manyObjects makes a store with n small blobs in a few packs.
func manyObjects(b *testing.B, n int) *Store {
	b.Helper()
	s := newStore(b)
	for from := 0; from < n; from += n / 4 {
		var builder Builder
		for i := range n / 4 {
			builder.Blob(binary.AppendUvarint(nil, uint64(from+i)))
		}
		install(b, s, &builder)
		if err := s.Seal(); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkRepair measures what a start does to a repository in which nothing is
// wrong.
func BenchmarkRepair(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			s := manyObjects(b, n)
			for b.Loop() {
				again, err := Open(s.dir, zerolog.Nop())
				if err != nil {
					b.Fatal(err)
				}
				if did, err := again.Repair(); err != nil || len(did) > 0 {
					b.Fatal(did, err)
				}
			}
		})
	}
}

// BenchmarkFind measures one look into the index of a pack, for what is there and
// for what is not.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		s := manyObjects(b, n)
		p := s.packs.all()[0]
		var names []Hash
		if err := p.Names(func(h Hash) { names = append(names, h) }); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("objects=%d/there", n/4), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, ok, err := p.Find(names[i*7919%len(names)]); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
		b.Run(fmt.Sprintf("objects=%d/not", n/4), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, ok, err := p.Find(BlobHash(fmt.Append(nil, -i-1))); ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkJoin measures the joining of nine packs, in bytes of packs per second.
func BenchmarkJoin(b *testing.B) {
	size := int64(0)
	for range b.N {
		b.StopTimer()
		h := newHistory(b)
		for range joinAbove + 1 {
			for range 10 {
				h.commit(b, "data", 1000)
			}
			h.seal(b)
		}
		sources, err := h.joins.plan()
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range sources {
			size += c.size
		}
		b.StartTimer()
		if err := h.join(b.Context(), sources, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(size / int64(b.N))
}

// BenchmarkNewestTree measures the first reading, after a start, of a day with many messages. The
// day is the last of a row of deltas.
func BenchmarkNewestTree(b *testing.B) {
	h := newHistory(b)
	h.commit(b, "day", 10_000)
	for range sealCommits - 2 {
		h.commit(b, "day", 1)
	}
	day, _, err := h.Subtree(h.tree, "day")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		again, err := Open(h.dir, zerolog.Nop())
		if err != nil {
			b.Fatal(err)
		}
		if entries, err := again.Tree(day); err != nil || len(entries) != h.n {
			b.Fatal(len(entries), err)
		}
	}
}

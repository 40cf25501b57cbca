package archive

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"math/bits"
	"sort"
)

// pairs is a table of an archive: keys with a number each, in the order of the keys,
// then of the numbers.
type pairs []byte

const pairBytes = 12

type pair struct {
	key   uint64
	value uint32
}

func comparePairs(p, q pair) int {
	return cmp.Or(cmp.Compare(p.key, q.key), cmp.Compare(p.value, q.value))
}

func (t pairs) len() int { return len(t) / pairBytes }

func (t pairs) at(i int) pair {
	raw := t[pairBytes*i:]
	return pair{binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint32(raw[8:])}
}

func appendPair(out []byte, p pair) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(out, p.key), p.value)
}

// first is the index of the first entry whose key is not below `key`. Keys are spread evenly. So
// the search begins around the place where such a key should be.
func (t pairs) first(key uint64) int {
	n := t.len()
	guess, _ := bits.Mul64(key, uint64(n))
	low, high := int(guess), int(guess)
	for step := 1; low > 0 && t.at(low-1).key >= key; step *= 2 {
		low = max(0, low-step)
	}
	for step := 1; high < n && t.at(high).key < key; step *= 2 {
		high = min(n, high+step)
	}
	return low + sort.Search(high-low, func(i int) bool { return t.at(low+i).key >= key })
}

// with yields the numbers under a key, in their order.
func (t pairs) with(key uint64) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := t.first(key); i < t.len(); i++ {
			p := t.at(i)
			if p.key != key || !yield(p.value) {
				return
			}
		}
	}
}

// all yields every entry.
func (t pairs) all() iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for i := range t.len() {
			if !yield(t.at(i)) {
				return
			}
		}
	}
}

// lists is a part of an archive that has lists of records. The records of a list rise. First comes
// the number of lists, then for each list its own number and where it ends, then the records.
type lists []byte

const listBytes = 8

func (t lists) len() int {
	if len(t) < 4 {
		return 0
	}
	return min(int(binary.LittleEndian.Uint32(t)), (len(t)-4)/listBytes)
}

func (t lists) id(i int) uint32 { return binary.LittleEndian.Uint32(t[4+listBytes*i:]) }

func (t lists) end(i int) int { return int(binary.LittleEndian.Uint32(t[4+listBytes*i+4:])) }

func (t lists) list(i int) List {
	all := t[4+listBytes*t.len():]
	from, to := 0, t.end(i)
	if i > 0 {
		from = t.end(i - 1)
	}
	if from > to || 4*to > len(all) {
		return nil
	}
	return List(all[4*from : 4*to])
}

func (t lists) of(id uint32) List {
	i := sort.Search(t.len(), func(i int) bool { return t.id(i) >= id })
	if i < t.len() && t.id(i) == id {
		return t.list(i)
	}
	return nil
}

// List is records of an archive, rising.
type List []byte

// Len is how many there are.
func (l List) Len() int { return len(l) / 4 }

// At is the i-th.
func (l List) At(i int) uint32 { return binary.LittleEndian.Uint32(l[4*i:]) }

// Key is the key of a text. It is taken from a SHA-256, so that nobody can choose texts whose keys
// lie close together.
func Key(text string) uint64 {
	var buf [128]byte
	return keyOf(append(buf[:0], text...))
}

// PathKey is the key of two texts with a slash between them.
func PathKey(folder, name string) uint64 {
	var buf [128]byte
	return keyOf(append(append(append(buf[:0], folder...), '/'), name...))
}

func keyOf(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}

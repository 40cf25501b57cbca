package objects

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// randomTree returns entries in git's order. Some names are those of messages.
func randomTree(random *rand.Rand, n int) []Entry {
	var entries []Entry
	for range n {
		e := Entry{Name: fmt.Sprintf("%09dZ-%08x.md", random.IntN(240_000_000), random.Uint32()), Mode: ModeFile}
		if random.IntN(4) == 0 {
			e = Entry{Name: fmt.Sprint(random.IntN(50)), Mode: ModeDir}
		}
		e.Hash = BlobHash(fmt.Append(nil, random.Uint64()))
		entries = append(entries, e)
	}
	return tidyTree(entries)
}

func tidyTree(entries []Entry) []Entry {
	slices.SortFunc(entries, compareEntries)
	return slices.CompactFunc(entries, func(a, b Entry) bool { return a.Name == b.Name })
}

// changedTree returns a tree after a few changes of each kind.
func changedTree(random *rand.Rand, entries []Entry) []Entry {
	out := slices.Clone(entries)
	for range random.IntN(4) {
		if len(out) > 0 {
			out[random.IntN(len(out))].Hash = BlobHash(fmt.Append(nil, random.Uint64()))
		}
		if len(out) > 0 && random.IntN(2) == 0 {
			i := random.IntN(len(out))
			out = slices.Delete(out, i, i+1)
		}
	}
	return tidyTree(append(out, randomTree(random, random.IntN(5))...))
}

func TestTreeDeltaMakesTheTree(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 100 {
		old := randomTree(random, 1+random.IntN(3000))
		entries := changedTree(random, old)
		if random.IntN(5) == 0 {
			entries = randomTree(random, 1+random.IntN(100))
		}
		delta := treeDelta(old, entries)
		got, err := packfile.PatchDelta(encodeTree(old), delta)
		if err != nil || !bytes.Equal(got, encodeTree(entries)) {
			t.Fatalf("%d to %d entries: %v", len(old), len(entries), err)
		}
	}
}

func TestTreeDeltaOfOneMessageIsSmall(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	old := randomTree(random, 5000)
	added := tidyTree(append(slices.Clone(old), Entry{Name: "120000000Z-00000000.md", Mode: ModeFile, Hash: BlobHash(nil)}))
	for _, c := range []struct {
		how      string
		old, new []Entry
		most     int
	}{{"added", old, added, 120}, {"removed", added, old, 60}} {
		if got := len(treeDelta(c.old, c.new)); got > c.most {
			t.Errorf("%s: %d bytes, want at most %d", c.how, got, c.most)
		}
	}
}

func FuzzTreeDelta(f *testing.F) {
	f.Add(encodeTree([]Entry{{Name: "a", Mode: ModeFile}, {Name: "b", Mode: ModeDir}}), encodeTree([]Entry{{Name: "b", Mode: ModeDir}}))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		old, err := decodeTree(a)
		if err != nil || len(old) == 0 {
			return
		}
		entries, err := decodeTree(b)
		if err != nil {
			return
		}
		delta := treeDelta(old, entries)
		if len(entries) == 0 {
			return // no delta makes an empty tree
		}
		got, err := packfile.PatchDelta(encodeTree(old), delta)
		if err != nil || !bytes.Equal(got, encodeTree(entries)) {
			t.Fatalf("%v from %v: %v", entries, old, err)
		}
	})
}

// Trees that came from each other one by one, through more than one pack, are read back whole. Git
// agrees.
func TestTreesInARowAreDeltas(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	s := newStore(t)
	random := rand.New(rand.NewPCG(13, 14))
	base, err := func() (Hash, error) {
		var b Builder
		changes := map[string]Change{}
		for n := range 2000 {
			changes[fmt.Sprintf("day/%09dZ.md", n)] = Change{Hash: b.Blob(fmt.Append(nil, random.Uint64()))}
		}
		h, err := s.Update(Zero, changes, &b)
		install(t, s, &b)
		return h, err
	}()
	if err != nil {
		t.Fatal(err)
	}
	alone := len(s.rolling.body)
	tip, tree := Zero, base
	for n := range 3 * sealCommits {
		var b Builder
		change := Change{Hash: b.Blob(fmt.Append(nil, n))}
		if tree, err = s.Update(tree, map[string]Change{fmt.Sprintf("day/%09dZ.md", 1_000_000+n): change}, &b); err != nil {
			t.Fatal(err)
		}
		c := Commit{Tree: tree, Author: Identity{"a", "b"}, Committer: Identity{"a", "b"}, When: time.Unix(int64(n), 0), Message: "m"}
		if tip != Zero {
			c.Parents = []Hash{tip}
		}
		next := b.Commit(c)
		install(t, s, &b)
		if err := s.MoveRef("refs/heads/main", tip, next); err != nil {
			t.Fatal(err)
		}
		tip = next
		if n == sealCommits-2 {
			if grown := len(s.rolling.body) - alone; grown > 400*sealCommits {
				t.Errorf("%d commits have %d bytes", n, grown)
			}
		}
	}
	again, err := Open(s.dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for n := 3 * sealCommits; tip != Zero; n-- {
		c, err := again.CommitAt(tip)
		if err != nil {
			t.Fatal(err)
		}
		day, _, err := again.Subtree(c.Tree, "day")
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := again.Tree(day); err != nil || len(entries) != 2000+n {
			t.Fatalf("after commit %d: %d entries, %v", n, len(entries), err)
		}
		tip = Zero
		if len(c.Parents) > 0 {
			tip = c.Parents[0]
		}
	}
	git(t, s.dir, "", "fsck", "--strict", "--no-dangling")
}

// Some old programs wrote modes with a leading zero, or names in another order. It
// prevents: a delta against bytes that such a tree does not have.
func TestTreesOfOldProgramsAreNoBases(t *testing.T) {
	s := newStore(t)
	var raw []byte
	var b Builder
	for _, n := range rand.New(rand.NewPCG(1, 1)).Perm(100) {
		h := b.Blob(fmt.Append(nil, n))
		raw = fmt.Appendf(raw, "0100644 %03d\x00%s", n, h[:])
	}
	old := b.add(plumbing.TreeObject, raw)
	install(t, s, &b)
	for range 2 { // the second time from what was kept of the first
		b = Builder{}
		tree, err := s.Update(old, map[string]Change{"050": {Hash: b.Blob([]byte("other"))}}, &b)
		if err != nil {
			t.Fatal(err)
		}
		install(t, s, &b)
		again, err := Open(s.dir, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := again.Tree(tree); err != nil || len(entries) != 100 || entries[50].Hash != BlobHash([]byte("other")) {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		if got := git(t, s.dir, "", "cat-file", "-t", tree.String()); got != "tree" {
			t.Error(got)
		}
	}
}

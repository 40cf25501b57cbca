package objects

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"
)

// history is a main that grows, and all objects that it is made of.
type history struct {
	*Store
	tip, tree Hash
	n         int
	all       map[Hash][]byte
}

func newHistory(t testing.TB) *history {
	t.Helper()
	h := &history{Store: newStore(t), all: map[Hash][]byte{}}
	return h
}

// commit makes one commit with some new files in a folder.
func (h *history) commit(t testing.TB, folder string, files int) {
	t.Helper()
	var b Builder
	changes := map[string]Change{}
	for range files {
		h.n++
		changes[fmt.Sprintf("%s/%09dZ-%08x.md", folder, h.n, h.n*7919)] = Change{Hash: b.Blob(fmt.Appendf(nil, "file %d\n", h.n))}
	}
	tree, err := h.Update(h.tree, changes, &b)
	if err != nil {
		t.Fatal(err)
	}
	c := Commit{Tree: tree, Author: Identity{"a", "b"}, Committer: Identity{"a", "b"}, When: time.Unix(int64(h.n), 0), Message: "m"}
	if h.tip != Zero {
		c.Parents = []Hash{h.tip}
	}
	next := b.Commit(c)
	for _, o := range b.objects {
		h.all[o.hash] = o.data
	}
	install(t, h.Store, &b)
	if err := h.MoveRef("refs/heads/main", h.tip, next); err != nil {
		t.Fatal(err)
	}
	h.tip, h.tree = next, tree
}

// seal makes a pack of its own of what was committed since the last one.
func (h *history) seal(t testing.TB) {
	t.Helper()
	if err := h.Seal(); err != nil {
		t.Fatal(err)
	}
}

// joinAll joins until there are few packs, as the goroutine of tend does.
func (s *Store) joinAll(t testing.TB) {
	t.Helper()
	if err := s.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// settle removes what was replaced, as if it had stood for long.
func (s *Store) settle(t testing.TB) {
	t.Helper()
	s.Writer.mu.Lock()
	defer s.Writer.mu.Unlock()
	if err := s.removeFirst(len(s.retired)); err != nil {
		t.Fatal(err)
	}
}

// wantAll reads every object anew and lets git look for faults.
func (h *history) wantAll(t testing.TB) {
	t.Helper()
	again, err := Open(h.dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for hash, data := range h.all {
		if _, got, err := again.Read(hash); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s: %d bytes, want %d: %v", hash, len(got), len(data), err)
		}
	}
	git(t, h.dir, "", "fsck", "--strict", "--no-dangling")
}

func (s *Store) files(t testing.TB, ending string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(string(s.folder), "*"+ending))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestJoinKeepsEveryObject(t *testing.T) {
	h := newHistory(t)
	for n := range 40 {
		for range 1 + n%3 {
			h.commit(t, fmt.Sprintf("data/%d", n%4), 10)
		}
		h.seal(t)
		if n%20 == 19 {
			h.joinAll(t)
			h.settle(t)
			h.wantAll(t)
			if got := len(h.files(t, ".pack")); got > joinAbove {
				t.Errorf("%d packs", got)
			}
		}
	}
	if kept := h.files(t, ".keep"); len(kept) > 0 {
		t.Errorf("kept: %q", kept)
	}
	for _, name := range h.files(t, ".pack") {
		git(t, h.dir, "", "index-pack", "--strict", "--fsck-objects", "-o", filepath.Join(t.TempDir(), "x.idx"), name)
		git(t, h.dir, "", "verify-pack", name)
	}
}

// Packs of git have deltas of both kinds, and the same object stands in several of them.
func TestJoinPacksOfGit(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for n := range 2 * joinAbove {
		for range 6 {
			h.commit(t, "data", 20)
		}
		h.seal(t)
		args := []string{"-c", "repack.usedeltabaseoffset=" + fmt.Sprint(n%2 == 0), "repack", "-a", "-q", "-f"}
		git(t, h.dir, "", args...)
	}
	h.joinAll(t)
	if len(h.retired) == 0 {
		t.Error("nothing was joined")
	}
	h.settle(t)
	h.wantAll(t)
	if got := len(h.files(t, ".pack")); got > joinAbove {
		t.Errorf("%d packs", got)
	}
}

// What else git keeps beside a pack goes with the pack. Packs that others keep are left alone.
func TestJoinLeavesWhatOthersKeep(t *testing.T) {
	h := newHistory(t)
	for range joinAbove + 6 {
		h.commit(t, "data", 3)
		h.seal(t)
	}
	packs := h.files(t, ".pack")
	var stay []string
	for i, ending := range []string{".keep", ".promisor", ".mtimes"} {
		base := packs[i][:len(packs[i])-len(".pack")]
		if err := os.WriteFile(base+ending, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		stay = append(stay, base+".pack")
	}
	for _, name := range packs {
		if err := os.WriteFile(name[:len(name)-len(".pack")]+".rev", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.joinAll(t)
	if len(h.retired) == 0 {
		t.Error("nothing was joined")
	}
	h.settle(t)
	now := h.files(t, ".pack")
	for _, name := range stay {
		if !slices.Contains(now, name) {
			t.Errorf("%s is gone", name)
		}
	}
	if left := h.files(t, ".rev"); len(left) != len(now)-1 {
		t.Errorf("%d packs, %d .rev", len(now), len(left))
	}
}

// If one of the packs has all objects already, the joined pack would be that pack again. A gc may
// be about to remove it. So the joined pack must be another one.
func TestJoinNeverBringsAPackBack(t *testing.T) {
	h := newHistory(t)
	for range joinAbove + 1 {
		h.commit(t, "data", 3)
		h.seal(t)
	}
	sources, err := h.joins.plan()
	if err != nil || len(sources) != joinAbove+1 {
		t.Fatal(len(sources), err)
	}
	if err := h.join(t.Context(), sources, nil); err != nil {
		t.Fatal(err)
	}
	h.retired = nil // a crash: all of them stay
	first := h.files(t, ".keep")[0]
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h.joinAll(t)
		for _, kept := range h.files(t, ".keep") {
			if kept == first {
				t.Error("the pack that was there is kept anew")
			}
		}
		h.wantAll(t)
		h.retired = nil
		for _, kept := range h.files(t, ".keep") {
			if err := os.Remove(kept); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A damaged pack is never copied, because the copy would have right check sums.
func TestJoinDoesNotCopyDamage(t *testing.T) {
	h := newHistory(t)
	for range joinAbove + 2 {
		h.commit(t, "data", 3)
		h.seal(t)
	}
	name := h.files(t, ".pack")[0]
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	h.joins.tend()
	h.joins.mu.Lock()
	run := h.joins.running
	h.joins.mu.Unlock()
	<-run.done
	h.settle(t)
	if now := h.files(t, ".pack"); !slices.Contains(now, name) || len(now) != 2 {
		t.Errorf("packs: %q", now)
	}
}

// The packs that a joined pack replaces may still be there. Then a gc leaves out what they hold, or
// what the joined pack holds. Neither may go as long as an object would be missed without it.
func TestGcBetweenJoinAndRemoval(t *testing.T) {
	t.Parallel()
	for _, repack := range [][]string{{"repack", "-adq"}, {"gc", "--quiet", "--prune=now"}, {"repack", "-dq", "--geometric=2"}} {
		h := newHistory(t)
		for range joinAbove + 2 {
			h.commit(t, "data", 5)
			h.seal(t)
		}
		for range 3 {
			h.joinAll(t)
			git(t, h.dir, "", repack...)
			h.settle(t)
			git(t, h.dir, "", repack...)
			h.wantAll(t)
			for range joinAbove + 1 {
				h.commit(t, "data", 5)
				h.seal(t)
			}
		}
	}
}

// A crash leaves a join at some point of its way. From each point it is brought to its end.
func TestRepairFinishesAJoin(t *testing.T) {
	for name, crash := range map[string]func(t *testing.T, base string, sources []string){
		"none is gone": func(*testing.T, string, []string) {},
		"without its index": func(t *testing.T, base string, _ []string) {
			if err := os.Remove(base + ".idx"); err != nil {
				t.Fatal(err)
			}
		},
		"one is half gone": func(t *testing.T, _ string, sources []string) {
			if err := os.Remove(sources[0] + ".idx"); err != nil {
				t.Fatal(err)
			}
		},
		"all are gone": func(t *testing.T, _ string, sources []string) {
			for _, base := range sources {
				if err := removePack(base); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			for range joinAbove + 1 {
				h.commit(t, "data", 5)
				h.seal(t)
			}
			before := h.files(t, ".pack")
			h.joinAll(t)
			base := h.retired[len(h.retired)-1].base
			var sources []string
			for _, name := range before {
				sources = append(sources, name[:len(name)-len(".pack")])
			}
			crash(t, base, sources)
			again, err := Open(h.dir, zerolog.Nop())
			if err != nil {
				t.Fatal(err)
			}
			if did, err := again.Repair(); err != nil || len(did) == 0 {
				t.Errorf("Repair: %q, %v", did, err)
			}
			if packs := h.files(t, ".pack"); len(packs) != 1 || len(h.files(t, ".keep")) != 0 {
				t.Errorf("left: %q", packs)
			}
			h.wantAll(t)
		})
	}
	t.Run("it is torn", func(t *testing.T) {
		h := newHistory(t)
		for range joinAbove + 1 {
			h.commit(t, "data", 5)
			h.seal(t)
		}
		h.joinAll(t)
		base := h.retired[len(h.retired)-1].base
		data, err := os.ReadFile(base + ".pack")
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(base+".pack", data, 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := Open(h.dir, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Repair(); err != nil {
			t.Error(err)
		}
		if packs := h.files(t, ".pack"); len(packs) < joinAbove+1 {
			t.Errorf("left: %q", packs)
		}
	})
}

// What git writes over many packs must not name a pack that goes.
func TestMultiPackIndexNamesNoPackThatGoes(t *testing.T) {
	for _, write := range [][]string{{"multi-pack-index", "write"}, {"repack", "-q", "--write-midx", "--write-bitmap-index"}} {
		h := newHistory(t)
		for range joinAbove + 1 {
			h.commit(t, "data", 5)
			h.seal(t)
		}
		git(t, h.dir, "", write...)
		h.joinAll(t)
		h.settle(t)
		if left := h.files(t, "multi-pack-index"); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		h.wantAll(t)
		h.commit(t, "data", 5)
		git(t, h.dir, "", write...)
		if did, err := h.folder.dropStaleMultiIndex(); err != nil || len(did) > 0 {
			t.Errorf("one that is right: %q, %v", did, err)
		}
		if err := removePack(h.rolling.base); err != nil {
			t.Fatal(err)
		}
		if did, err := h.folder.dropStaleMultiIndex(); err != nil || len(did) != 1 {
			t.Errorf("one that names what is gone: %q, %v", did, err)
		}
	}
}

// It prevents: a start that removes a pack which a crash left replaced, and leaves an index that
// names it. Git would then miss the objects of the pack.
func TestMultiPackIndexAfterACrash(t *testing.T) {
	h := newHistory(t)
	h.commit(t, "data", 5)
	h.commit(t, "data", 5)
	git(t, h.dir, "", "multi-pack-index", "write")
	again, err := Open(h.dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if did, err := again.Repair(); err != nil || len(did) != 1 {
		t.Errorf("Repair: %q, %v", did, err)
	}
	if left := h.files(t, "multi-pack-index"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	h.wantAll(t)
}

// TestAnyOrderOfWork does commits, joins, gc by git, crashes and restarts in random order. Every
// object stays readable at every step.
func TestAnyOrderOfWork(t *testing.T) {
	t.Parallel()
	rounds := 40
	if os.Getenv("PARLEY_SOAK") != "" {
		rounds = 300
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	h := newHistory(t)
	reopen := func() {
		again, err := Open(h.dir, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Repair(); err != nil {
			t.Fatal(err)
		}
		h.Store = again
	}
	steps := map[string]func(){
		"seal":     func() { h.seal(t) },
		"settle":   func() { h.settle(t) },
		"join":     func() { h.joinAll(t) },
		"crash":    func() { h.joins.stop(); reopen() },
		"restart":  func() { h.seal(t); reopen() },
		"gc":       func() { git(t, h.dir, "", "gc", "--quiet", "--prune=now") },
		"repack":   func() { git(t, h.dir, "", "repack", "-adq") },
		"geometry": func() { git(t, h.dir, "", "repack", "-dq", "--geometric=2", "--write-midx") },
		"midx":     func() { git(t, h.dir, "", "multi-pack-index", "write") },
		"many packs": func() {
			for range joinAbove + 1 {
				h.commit(t, "data/many", 1)
				h.seal(t)
			}
		},
	}
	names := slices.Sorted(maps.Keys(steps))
	for range rounds {
		for range 1 + random.IntN(5) {
			h.commit(t, fmt.Sprintf("data/%d", random.IntN(3)), 1+random.IntN(30))
		}
		name := names[random.IntN(len(names))]
		steps[name]()
		for hash, data := range h.all {
			if random.IntN(20) > 0 {
				continue
			}
			if _, got, err := h.Read(hash); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("after %s: %s: %v", name, hash, err)
			}
		}
	}
	h.wantAll(t)
	if kind, _, err := h.Read(h.tip); err != nil || kind != plumbing.CommitObject {
		t.Error(kind, err)
	}
}

// Of a pack with the versions of a growing folder, which are deltas of each other, an object is
// damaged. It prevents: a replacement that holds each version whole, many times as large, as a folder
// of a thousand messages has a thousand versions; one that has the bytes of the pack before the damage,
// so its name, and goes with it; and one for which each version is read, which took a minute and
// hundreds of megabytes for a day of 15,000 messages.
func TestReplacedPackIsNoLarger(t *testing.T) {
	h := newHistory(t)
	h.commit(t, "day", 1000)
	for range 30 {
		h.commit(t, "day", 1)
	}
	h.seal(t)
	again, err := Open(h.dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	packs := again.packs.all()
	if len(packs) != 1 {
		t.Fatalf("there are %d packs", len(packs))
	}
	newest := BlobHash(fmt.Appendf(nil, "file %d\n", h.n))
	again.heal = func(want Hash) error { return again.PutLoose(plumbing.BlobObject, h.all[want]) }
	data, err := os.ReadFile(packs[0].Base + ".pack")
	at, _, err2 := packs[0].Find(newest)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	data[at+3] ^= 0x55
	if err := errors.Join(os.Remove(packs[0].Base+".pack"), os.WriteFile(packs[0].Base+".pack", data, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := again.Read(newest); err != nil {
		t.Fatal(err)
	}
	if did := again.ReplaceDamaged(t.Context()); len(did) != 1 || !strings.HasPrefix(did[0], "replaced") {
		t.Fatalf("%q", did)
	}
	size := int64(0)
	for _, p := range again.packs.all() {
		size += p.Size()
	}
	if size > int64(len(data))*5/4 {
		t.Errorf("a pack of %d bytes was replaced by %d", len(data), size)
	}
	h.wantAll(t)
}

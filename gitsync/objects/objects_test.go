package objects

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

func git(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME=op", "GIT_AUTHOR_EMAIL=o@example.org", "GIT_COMMITTER_NAME=op", "GIT_COMMITTER_EMAIL=o@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func newStore(t testing.TB) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r.git")
	git(t, t.TempDir(), "", "init", "--quiet", "--bare", "--initial-branch=main", dir)
	s, err := Open(dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.joins.stop)
	return s
}

func install(t testing.TB, s *Store, b *Builder) {
	t.Helper()
	if err := s.Install(b); err != nil {
		t.Fatal(err)
	}
}

// TestUpdateAndDiffAgreeWithGit makes random changes to a tree, by Update and by git itself. It
// compares names, differences and lookups.
func TestUpdateAndDiffAgreeWithGit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a.b", "a0", "a-b", "b", "ab", "A", "ä", "z"}
	randomPath := func() string {
		var parts []string
		for range 1 + random.IntN(3) {
			parts = append(parts, names[random.IntN(len(names))])
		}
		return strings.Join(parts, "/")
	}
	files := map[string]string{} // what the tree should hold
	tree := Zero
	for round := range 60 {
		before, old := maps.Clone(files), tree
		changes := map[string]Change{}
		var b Builder
		for range 1 + random.IntN(8) {
			path := randomPath()
			if conflicts(changes, path) {
				continue
			}
			if _, there := files[path]; there && random.IntN(3) == 0 {
				changes[path] = Change{}
				delete(files, path)
				continue
			}
			text := fmt.Sprintf("round %d %s", round, path)
			changes[path] = Change{Hash: b.Blob([]byte(text))}
			maps.DeleteFunc(files, func(other, _ string) bool {
				return strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/")
			})
			files[path] = text
		}
		var err error
		if tree, err = s.Update(tree, changes, &b); err != nil {
			t.Fatal(err)
		}
		b.tree(s.Trees.cache, Zero, nil) // git wants the empty tree to exist when it is compared
		install(t, s, &b)
		if want := treeByGit(t, s.dir, files); tree.String() != want {
			t.Fatalf("round %d: the tree is %s, git says %s", round, tree, want)
		}
		wantDiff(t, s, old, tree, before, files)
		for _, path := range append(slices.Collect(maps.Keys(files)), randomPath()) {
			e, ok, err := s.Lookup(tree, path)
			text, want := files[path]
			if err != nil || ok != want || ok && e.Hash != BlobHash([]byte(text)) {
				t.Fatalf("Lookup(%s) = %v, %v, %v", path, e, ok, err)
			}
		}
	}
	git(t, s.dir, "", "fsck", "--strict", "--no-dangling", tree.String())
}

// conflicts reports whether a path stands at, above or below that of another change.
func conflicts(changes map[string]Change, path string) bool {
	for other := range changes {
		if other == path || strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
			return true
		}
	}
	return false
}

func treeByGit(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	index := "GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")
	var input strings.Builder
	for path, text := range files {
		fmt.Fprintf(&input, "100644 %s\t%s\n", BlobHash([]byte(text)), path)
	}
	run := func(input string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), index)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run(input.String(), "update-index", "--index-info")
	return run("", "write-tree")
}

func wantDiff(t *testing.T, s *Store, old, new Hash, before, after map[string]string) {
	t.Helper()
	var got, want []string
	err := s.Diff(old, new, func(d Difference) error {
		got = append(got, fmt.Sprintf("%s %v>%v", d.Path, d.Old.Hash != Zero, d.New.Hash != Zero))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	for path := range all {
		a, inA := before[path]
		b, inB := after[path]
		if inA != inB || a != b {
			want = append(want, fmt.Sprintf("%s %v>%v", path, inA, inB))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Diff (-want +got):\n%s", diff)
	}
}

func TestReadWhatGitPacked(t *testing.T) {
	s := newStore(t)
	random := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 40_000)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
	}
	want := map[Hash][]byte{}
	for n := range 40 {
		text[n*100] = '\n'
		data := bytes.Clone(text)
		h := plumbing.NewHash(git(t, s.dir, string(data), "hash-object", "-w", "--stdin"))
		want[h] = data
	}
	check := func(how string) {
		t.Helper()
		for h, data := range want {
			got, err := s.Blob(h)
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%s: blob %s: %d bytes, %v", how, h, len(got), err)
			}
		}
	}
	check("loose")
	var names strings.Builder
	for h := range want {
		fmt.Fprintf(&names, "%s file\n", h)
	}
	git(t, s.dir, names.String(), "pack-objects", "--quiet", "--delta-base-offset", "objects/pack/pack")
	git(t, s.dir, "", "prune-packed", "--quiet")
	check("offset deltas")
	old, err := filepath.Glob(filepath.Join(string(s.folder), "*"))
	if err != nil {
		t.Fatal(err)
	}
	git(t, s.dir, names.String(), "-c", "pack.compression=3", "pack-objects", "--quiet", "--no-reuse-delta", "--no-reuse-object", "objects/pack/pack")
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	check("reference deltas, after the first pack vanished")
	if _, _, err := s.Read(plumbing.NewHash(strings.Repeat("12", 20))); err == nil {
		t.Error("an object that does not exist was read")
	}
}

func TestRollingPackAndItsKeep(t *testing.T) {
	s := newStore(t)
	var b Builder
	h := b.Blob([]byte("one"))
	install(t, s, &b)
	files := func(ending string) int {
		names, err := filepath.Glob(filepath.Join(string(s.folder), "*"+ending))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	b = Builder{}
	b.Blob([]byte("two"))
	install(t, s, &b)
	if files(".pack") != 2 || files(".keep") != 2 || files(".idx") != 2 {
		t.Error("the replaced pack does not stay for those who read it")
	}
	s.retired[0].since = time.Now().Add(-time.Hour)
	if err := s.Retire(); err != nil {
		t.Fatal(err)
	}
	if files(".pack") != 1 || files(".keep") != 1 || files(".idx") != 1 {
		t.Error("the replaced pack was not removed")
	}
	if _, err := s.Blob(h); err != nil {
		t.Error(err)
	}
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	if files(".keep") != 0 {
		t.Error("a sealed pack keeps its .keep")
	}
	git(t, s.dir, "", "fsck", "--strict", "--no-dangling")
	b = Builder{}
	b.Blob(make([]byte, 100))
	install(t, s, &b)
	b = Builder{}
	noise := make([]byte, sealBytes)
	random := rand.New(rand.NewPCG(5, 6))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	b.Blob(noise)
	install(t, s, &b)
	b = Builder{}
	b.Blob([]byte("after"))
	install(t, s, &b)
	if s.rolling.commits != 0 || len(s.rolling.entries) != 1 {
		t.Errorf("a full pack was not sealed: %d entries", len(s.rolling.entries))
	}
}

// While packs that were replaced are still there, a gc leaves out what they hold. So the full pack
// that holds it too must not be the gc's to remove.
func TestGcOfAFullPackKeepsWhatItReplaced(t *testing.T) {
	s := newStore(t)
	var tip Hash
	for n := range sealCommits + 2 {
		var b Builder
		tree := b.tree(s.Trees.cache, Zero, []Entry{{Name: fmt.Sprintf("%03d", n), Mode: ModeFile, Hash: b.Blob(fmt.Append(nil, n))}})
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
	}
	for range 2 {
		git(t, s.dir, "", "repack", "-adq")
		for i := range s.retired {
			s.retired[i].since = time.Now().Add(-time.Hour)
		}
		if err := s.Retire(); err != nil {
			t.Fatal(err)
		}
		git(t, s.dir, "", "fsck", "--strict", "--no-dangling")
	}
	kept, err := s.folder.packs(".keep")
	if err != nil || len(kept) != 1 {
		t.Errorf("packs with a .keep: %q, %v; want the rolling one", kept, err)
	}
}

// If "git repack -d" sees a pack without .keep, it takes the pack for one that it may remove,
// however much later that is.
func TestKeepComesBeforeThePack(t *testing.T) {
	s := newStore(t)
	var b Builder
	b.Blob([]byte("one"))
	next, err := new(rolling).with(&b, pack.NewWriter(nil))
	if err != nil {
		t.Fatal(err)
	}
	data, name, idx := pack.Encode(next.body, next.entries)
	base := filepath.Join(string(s.folder), "pack-"+name.String())
	if err := os.MkdirAll(filepath.Join(base+".pack", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.folder.placeFiles(base, idx, data); err == nil {
		t.Fatal("the pack was placed")
	}
	if _, err := os.Stat(base + ".keep"); err != nil {
		t.Errorf("the pack would have come first: %v", err)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var b Builder
	one := b.Commit(Commit{Author: Identity{"a\n<", "b>"}, Committer: Identity{"a", "b"}, When: time.Unix(1, 0), Message: "one\n\n"})
	two := b.Commit(Commit{Parents: []Hash{one}, Author: Identity{"a", "b"}, Committer: Identity{"a", "b"}, When: time.Unix(2, 0), Message: "two"})
	install(t, s, &b)
	if _, ok, err := s.Ref("refs/heads/main"); ok || err != nil {
		t.Errorf("Ref of nothing: %v, %v", ok, err)
	}
	if err := s.MoveRef("refs/heads/main", Zero, one); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveRef("refs/heads/main", Zero, two); err == nil {
		t.Error("a ref was made although it exists")
	}
	git(t, s.dir, "", "pack-refs", "--all")
	for _, name := range []string{"refs/heads/main", "HEAD"} {
		if h, ok, err := s.Ref(name); h != one || !ok || err != nil {
			t.Errorf("Ref(%s) packed: %s, %v, %v", name, h, ok, err)
		}
	}
	if err := s.MoveRef("refs/heads/main", one, two); err != nil {
		t.Fatal(err)
	}
	if got := git(t, s.dir, "", "rev-parse", "main"); got != two.String() {
		t.Errorf("git says %s", got)
	}
	git(t, s.dir, "", "fsck", "--strict")
	if c, err := s.CommitAt(one); err != nil || c.Author != (Identity{"a", "b"}) || c.Message != "one\n" {
		t.Errorf("CommitAt = %+v, %v", c, err)
	}
	lock := filepath.Join(s.dir, "refs/heads/main.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveRef("refs/heads/main", two, one); err == nil {
		t.Error("a ref was moved under another program's lock")
	}
	if did, err := s.Repair("refs/heads/main"); err != nil || len(did) != 1 {
		t.Errorf("Repair: %q, %v", did, err)
	}
	if err := s.MoveRef("refs/heads/main", two, one); err != nil {
		t.Error(err)
	}
}

// TestAncestryAgreesWithGit compares merge bases and commit lists on a random history. The dates of
// the commits lie a little.
func TestAncestryAgreesWithGit(t *testing.T) {
	s := newStore(t)
	random := rand.New(rand.NewPCG(7, 8))
	var b Builder
	var all []Hash
	for n := range 60 {
		c := Commit{
			Author: Identity{"a", "b"}, Committer: Identity{"a", "b"}, Message: fmt.Sprint(n),
			When: time.Unix(int64(1_000_000+10*n+random.IntN(25)), 0),
		}
		if n > 0 {
			c.Parents = append(c.Parents, all[max(0, n-1-random.IntN(4))])
			if other := all[max(0, n-1-random.IntN(8))]; random.IntN(3) == 0 && other != c.Parents[0] {
				c.Parents = append(c.Parents, other)
			}
		}
		all = append(all, b.Commit(c))
	}
	stranger := b.Commit(Commit{Author: Identity{"a", "b"}, Committer: Identity{"a", "b"}, When: time.Unix(5, 0)})
	install(t, s, &b)
	for range 60 {
		one, two := all[random.IntN(len(all))], all[random.IntN(len(all))]
		base, ok, err := s.MergeBase(one, two)
		want := strings.Fields(git(t, s.dir, "", "merge-base", "--all", one.String(), two.String()))
		if err != nil || !ok || !slices.Contains(want, base.String()) {
			t.Errorf("MergeBase(%s, %s) = %s, %v, %v; git says %s", one, two, base, ok, err, want)
		}
		only, err := s.Only(one, two)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range only {
			got = append(got, h.String())
		}
		wantOnly := strings.Fields(git(t, s.dir, "", "rev-list", one.String(), "^"+two.String()))
		slices.Sort(got)
		slices.Sort(wantOnly)
		if !slices.Equal(got, wantOnly) {
			t.Errorf("Only(%s, %s) has %d commits, git %d", one, two, len(got), len(wantOnly))
		}
	}
	if _, ok, err := s.MergeBase(all[50], stranger); ok || err != nil {
		t.Errorf("MergeBase with a stranger: %v, %v", ok, err)
	}
	if root, err := s.Root(all[59]); err != nil || root != all[0] {
		t.Errorf("Root = %s, %v", root, err)
	}
}

// The clock of one host stood years apart, and a host whose main lay on the remote's was told that
// it did not: dates decide in which order commits are looked at, never what is an ancestor.
func TestAncestryHoldsWhateverTheDates(t *testing.T) {
	s := newStore(t)
	random := rand.New(rand.NewPCG(7, 8))
	var b Builder
	var all []Hash
	reached := map[Hash]map[Hash]bool{} // by a commit: itself and its ancestors
	for n := range 40 {
		c := Commit{Author: Identity{"a", "b"}, Committer: Identity{"a", "b"}, Message: fmt.Sprint(n), When: time.Unix(int64(random.IntN(1_000_000)), 0)}
		for range min(n, 1+random.IntN(3)) {
			if parent := all[max(0, n-1-random.IntN(8))]; !slices.Contains(c.Parents, parent) {
				c.Parents = append(c.Parents, parent)
			}
		}
		h := b.Commit(c)
		all, reached[h] = append(all, h), map[Hash]bool{h: true}
		for _, parent := range c.Parents {
			maps.Copy(reached[h], reached[parent])
		}
	}
	install(t, s, &b)
	for i, old := range all {
		for _, next := range all[i:] {
			is, err := s.IsAncestor(old, next)
			if err != nil || is != reached[next][old] {
				t.Fatalf("IsAncestor(%d, %s) = %v, %v; want %v", i, next, is, err, reached[next][old])
			}
		}
	}
}

func TestRepairPacks(t *testing.T) {
	s := newStore(t)
	var b Builder
	one := b.Blob([]byte("one"))
	install(t, s, &b)
	first := s.rolling.base
	b = Builder{}
	b.Blob([]byte("two"))
	install(t, s, &b)
	if err := os.WriteFile(filepath.Join(string(s.folder), "pack-torn.pack"), []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01x"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	for _, base := range []string{filepath.Join(string(s.folder), "pack-torn"), s.rolling.base} {
		if err := os.Chtimes(base+".pack", old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(s.rolling.base + ".idx"); err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	did, err := again.Repair()
	if err != nil || len(did) != 3 {
		t.Errorf("Repair: %q, %v", did, err)
	}
	if _, err := os.Stat(first + ".pack"); !os.IsNotExist(err) {
		t.Errorf("the replaced pack is still there: %v", err)
	}
	if _, err := again.Blob(one); err != nil {
		t.Error(err)
	}
	git(t, s.dir, "", "fsck", "--strict", "--no-dangling")
	if did, err := again.Repair(); err != nil || len(did) != 0 {
		t.Errorf("a second Repair: %q, %v", did, err)
	}
}

func TestTreeCacheIsBounded(t *testing.T) {
	c := newTreeCache(10_000)
	for n := range 1000 {
		c.put(BlobHash(fmt.Append(nil, n)), []Entry{{Name: "some name"}})
	}
	if c.size > 10_000 || len(c.byKey) != c.order.Len() || c.order.Len() < 10 {
		t.Errorf("the cache holds %d trees of %d bytes", c.order.Len(), c.size)
	}
	if _, ok := c.get(BlobHash(fmt.Append(nil, 999))); !ok {
		t.Error("the newest tree is gone")
	}
}

// A ref is removed while git packs refs: none that git packs is lost, the removed one does not come
// back, and no line of a tag's commit stays behind for the ref before it.
func TestARefIsRemovedWhileGitPacks(t *testing.T) {
	commit := plumbing.NewHash(strings.Repeat("12", 20))
	hex := commit.String()
	kept, tag, peeled, packed := hex+" refs/heads/kept\n", hex+" refs/tags/v1\n", "^"+hex+"\n", hex+" refs/heads/packed-now\n"
	for name, c := range map[string]struct {
		own             bool // the ref has a file of its own
		before, by, end string
	}{
		"it is packed":          {false, kept + tag + peeled, kept + packed + tag + peeled, kept + packed},
		"it is being packed":    {true, kept, kept + tag + peeled, kept},
		"the last line is torn": {false, tag + hex + " refs/heads/main", tag + hex + " refs/heads/main", hex + " refs/heads/main"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			path := filepath.Join(s.dir, "packed-refs")
			write := func(lines string) {
				t.Helper()
				if err := WriteFile(path, []byte(packedHeader+"\n"+lines)); err != nil { // at once, as git does
					t.Fatal(err)
				}
			}
			write(c.before)
			if c.own {
				if err := s.ResetRef("refs/tags/v1", commit); err != nil {
					t.Fatal(err)
				}
			}
			lock, err := s.takeLock(path + ".lock") // as git holds it while it packs
			if err != nil {
				t.Fatal(err)
			}
			removed := make(chan error, 1)
			go func() { removed <- s.RemoveRef("refs/tags/v1", commit) }()
			for waits := false; !waits; runtime.Gosched() { // for the lock: it holds that of its ref by then
				select {
				case err := <-removed:
					t.Fatalf("it did not wait: %v", err)
				default:
				}
				_, err := os.Stat(filepath.Join(s.dir, "refs", "tags", "v1.lock"))
				waits = err == nil
			}
			write(c.by)
			if err := errors.Join(lock.Close(), s.dropLock(path+".lock"), <-removed); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if want := packedHeader + "\n" + c.end; err != nil || string(data) != want {
				t.Errorf("packed-refs: %q, %v, want %q", data, err, want)
			}
			if h, ok, err := s.Ref("refs/tags/v1"); ok || err != nil {
				t.Errorf("the ref is there: %s, %v", h, err)
			}
		})
	}
}

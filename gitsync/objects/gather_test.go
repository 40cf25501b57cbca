package objects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (s *Store) looseFiles(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, "objects", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Loose objects, such as those that an operator's commits and small pushes leave, are gathered when
// there are many. Young ones stay, because a commit may be about to name them.
func TestManyLooseObjectsAreGathered(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for range 20 {
		h.commit(t, "data", 150)
	}
	h.seal(t)
	for _, name := range h.files(t, ".pack") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := removePack(strings.TrimSuffix(name, ".pack")); err != nil {
			t.Fatal(err)
		}
		git(t, h.dir, string(data), "unpack-objects", "-q")
	}
	if got := len(h.looseFiles(t)); got != len(h.all) {
		t.Fatalf("%d loose objects, want %d", got, len(h.all))
	}
	again := func() {
		h.joins.mu.Lock()
		h.joins.counted = time.Time{}
		h.joins.mu.Unlock()
		h.joins.tend()
		h.joins.mu.Lock()
		run := h.joins.running
		h.joins.mu.Unlock()
		if run != nil {
			<-run.done
		}
	}
	again()
	if got := len(h.looseFiles(t)); got != len(h.all) {
		t.Errorf("%d loose objects are left of %d that are young", got, len(h.all))
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range h.looseFiles(t) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	damaged := h.looseFiles(t)[0]
	if err := os.Chmod(damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, append(data[:len(data)/2:len(data)/2], "nothing"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(damaged, old, old); err != nil {
		t.Fatal(err)
	}
	again()
	if left := h.looseFiles(t); len(left) != 1 || left[0] != damaged {
		t.Errorf("%d loose objects are left, want the damaged one", len(left))
	}
	if err := os.WriteFile(damaged, data, 0o600); err != nil {
		t.Fatal(err)
	}
	h.wantAll(t)
	if kept := h.files(t, ".keep"); len(kept) > 0 {
		t.Errorf("kept: %q", kept)
	}
	if size, err := os.Stat(h.files(t, ".pack")[0]); err != nil || size.Size() > int64(220*len(h.all)) {
		t.Errorf("the pack: %v, %v", size, err)
	}
}

// A gc must not take what is held, however long this takes and whatever is joined meanwhile. It
// prevents: a long fetch whose first packs a gc drops before a ref names them.
func TestHoldKeepsWhatNoRefNames(t *testing.T) {
	h := newHistory(t)
	h.commit(t, "data", 1)
	h.Hold()
	var blobs []Hash
	for n := range 3 * sealCommits {
		var b Builder
		blobs = append(blobs, b.Blob(fmt.Append(nil, n)))
		b.commits = 1
		install(t, h.Store, &b)
	}
	h.settle(t)
	h.joinAll(t)
	h.settle(t)
	git(t, h.dir, "", "repack", "-adq")
	git(t, h.dir, "", "gc", "--quiet", "--prune=now")
	for _, b := range blobs {
		if _, err := h.Blob(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	h.seal(t)
	if kept := h.files(t, ".keep"); len(kept) > 0 {
		t.Errorf("kept: %q", kept)
	}
}

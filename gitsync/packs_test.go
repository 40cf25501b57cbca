package gitsync

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// mostPacks bounds the packs of a record under any load of its own.
const mostPacks = 50

// watchPacks looks at the pack folder again and again until `stop` is called. Then `stop` returns
// how many packs there were at most.
func watchPacks(t *testing.T, repo string) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	most := 0
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			names, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.pack"))
			if err != nil {
				t.Error(err)
				return
			}
			most = max(most, len(names))
			<-time.After(time.Millisecond) // spares the processor only
		}
	})
	return func() int {
		cancel()
		watch.Wait()
		return most
	}
}

// Each commit writes a new pack. It prevents: hundreds of replaced packs that wait for their
// removal.
func TestFewPacksUnderManyCommits(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	stop := a.run(t)
	packs := watchPacks(t, a.repo())
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for n := range 30 {
				if err := a.WriteFile(t.Context(), fmt.Sprintf("hosts/%d.md", w), fmt.Appendf(nil, "%d\n", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	stop()
	if most := packs(); most > mostPacks {
		t.Errorf("%d packs", most)
	}
	a.close(t) // else packs may be joined while git reads them
	wantClean(t, a.repo())
}

// Every fetch of the git program leaves a pack.
func TestFewPacksAfterManyFetches(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	packs := watchPacks(t, b.repo())
	for n := range 20 {
		a.append(t, testMessage(1, n))
		a.sync(t)
		b.sync(t)
		if err := b.store.Retire(); err != nil {
			t.Fatal(err)
		}
	}
	if most := packs(); most > mostPacks {
		t.Errorf("%d packs", most)
	}
	b.close(t)
	if _, left := repoSize(t, b.repo()); left > 12 {
		t.Errorf("%d packs are left", left)
	}
	if got := len(messages(t, b.repo(), "main")); got != 20 {
		t.Errorf("%d messages", got)
	}
	wantClean(t, b.repo())
}

// If a remote is pushed to without the git program, nobody else tidies it up.
func TestFewPacksInAnotherFolder(t *testing.T) {
	t.Parallel()
	t.Run("builtin", func(t *testing.T) {
		remote := bareRemote(t)
		a := newHome(t, "a", remote)
		packs := watchPacks(t, remote)
		for n := range 30 {
			a.append(t, testMessage(1, n))
			a.sync(t)
		}
		if most := packs(); most > mostPacks/2 {
			t.Errorf("%d packs", most)
		}
		if kept, err := filepath.Glob(filepath.Join(remote, "objects", "pack", "*.keep")); err != nil || len(kept) > 0 {
			t.Errorf("kept: %q, %v", kept, err)
		}
		wantClean(t, remote)
	})
}

// Others push into the record, a pack each. These packs are joined as well. How many there are
// meanwhile depends on how fast the others push.
func TestFewPacksAfterManyPushes(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	a := newHome(t, "a", "")
	stop := a.run(t)
	gitOut(t, a.repo(), "config", "receive.unpackLimit", "1")
	clone := filepath.Join(t.TempDir(), "clone")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", a.repo(), clone)
	writeFile(t, filepath.Join(clone, "note.md"), "a note")
	gitOut(t, clone, "add", "-A")
	for n := range 60 {
		writeFile(t, filepath.Join(clone, "note.md"), fmt.Sprint(n))
		gitOut(t, clone, "commit", "-qam", "note")
		gitOut(t, clone, "push", "-q", "origin", "HEAD:main")
	}
	eventually(t, "there were few packs", func() bool {
		_, packs := repoSize(t, a.repo())
		return packs <= mostPacks
	})
	stop()
	a.close(t) // else packs may be joined while git reads them
	wantClean(t, a.repo())
}

// Clones that are made while packs are written, replaced and joined find all that they need.
func TestClonesDuringJoins(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	clones := 6
	if os.Getenv("PARLEY_SOAK") != "" {
		clones = 150
	}
	a := newHome(t, "a", "")
	stop := a.run(t)
	var done atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; !done.Load(); n++ {
			if err := a.WriteFile(t.Context(), fmt.Sprintf("hosts/%d.md", n%50), fmt.Appendf(nil, "%d\n", n)); err != nil {
				t.Error(err)
				return
			}
			if n%20 == 19 { // as a restart does
				if err := a.store.Seal(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for n := range clones {
		clone := filepath.Join(t.TempDir(), fmt.Sprint(n))
		gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", a.repo(), clone)
		gitOut(t, clone, "fsck", "--strict")
		if err := os.RemoveAll(clone); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	writer.Wait()
	stop()
	a.close(t) // else packs may be joined while git reads them
	wantClean(t, a.repo())
}

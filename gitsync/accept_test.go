package gitsync

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// lostAtTheBeginning makes a record with that many commits of one channel and day, of which the
// disk has lost a file that all of them have.
func lostAtTheBeginning(t *testing.T, commits int) Options {
	t.Helper()
	opts := Options{Dir: filepath.Join(t.TempDir(), "a"), Author: Author{Name: "a", Email: "a@example.org"}}
	if _, err := Init(t.Context(), opts, rootFiles); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	file := "data/channels/" + testChannel.String() + "/CHANNEL.md"
	err = r.WriteFile(t.Context(), file, []byte("---\nname: lost\n---\n"))
	for n := range int64(commits) {
		if err == nil {
			err = r.Append(t.Context(), []MessageFile{benchMessage(n)})
		}
		if err == nil {
			err = r.Sync(t.Context())
		}
	}
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(opts.Dir, repoName)
	lost := gitOut(t, repo, "rev-parse", "main:"+file)
	for _, pack := range exploded(t, repo) {
		gitInput(t, repo, pack, "unpack-objects", "-q")
	}
	if err := os.Remove(filepath.Join(repo, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	return opts
}

// exploded takes the packs out of a repository and returns what was in them.
func exploded(t *testing.T, repo string) (packs []string) {
	t.Helper()
	folder := filepath.Join(repo, "objects", "pack")
	files, err := filepath.Glob(filepath.Join(folder, "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		packs = append(packs, string(data))
	}
	if err := errors.Join(os.RemoveAll(folder), os.Mkdir(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	return packs
}

// To go on without what is lost takes looks for objects in proportion to the record, and it ends
// with its context. It prevents: in a record of some thousand messages it does not end.
func TestAcceptLossIsLinear(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	looks := func(commits int) (count int) {
		opts := lostAtTheBeginning(t, commits)
		opts.Looking = func(int, int) { count++ }
		r, err := Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if lost := r.Lost(); len(lost) != 1 {
			t.Errorf("lost: %q", lost)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := r.AcceptLoss(ended); !errors.Is(err, context.Canceled) || len(r.Lost()) != 1 {
			t.Errorf("it was ended: %v, lost are %q", err, r.Lost())
		}
		if err := r.AcceptLoss(t.Context()); err != nil || len(r.Lost()) > 0 {
			t.Errorf("not accepted: %v, lost are %q", err, r.Lost())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		repo := filepath.Join(opts.Dir, repoName)
		if got := gitOut(t, repo, "rev-list", "--objects", "--quiet", "main"); got != "" {
			t.Errorf("git says %q", got)
		}
		if got, want := len(messages(t, repo, "main")), commits; got != want {
			t.Errorf("main has %d messages, not %d", got, want)
		}
		return count
	}
	few, many := looks(100), looks(400)
	if few == 0 || many > 6*few {
		t.Errorf("%d steps for 100 commits, %d for 400", few, many)
	}
	t.Logf("%d steps for 100 commits, %d for 400", few, many)
}

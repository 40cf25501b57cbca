package gitsync

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// repeated makes a tree of 10^n files that takes n+1 objects.
func repeated(t *testing.T, repo string, n int) string {
	t.Helper()
	return repeatedEntry(t, repo, n, "100644 blob "+gitInput(t, repo, "x\n", "hash-object", "-w", "--stdin"))
}

func repeatedEntry(t *testing.T, repo string, n int, entry string) string {
	t.Helper()
	for range n {
		var lines strings.Builder
		for i := range 10 {
			fmt.Fprintf(&lines, "%s\t%d\n", entry, i)
		}
		entry = "040000 tree " + gitInput(t, repo, lines.String(), "mktree")
	}
	return entry[strings.LastIndexByte(entry, ' ')+1:]
}

// nested makes a tree in which folders lie `depth` deep in each other.
func nested(t *testing.T, repo string, depth int) string {
	t.Helper()
	entry := "100644 blob " + gitInput(t, repo, "x\n", "hash-object", "-w", "--stdin")
	for range depth {
		entry = "040000 tree " + gitInput(t, repo, entry+"\td\n", "mktree")
	}
	return entry[strings.LastIndexByte(entry, ' ')+1:]
}

// Somebody can push a few objects that stand for any number of files, or that lie any number of
// folders deep. It prevents: hosts that visit each of these paths, and end for want of memory.
func TestWhatNobodyHasWrittenIsRefused(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for name, bomb := range map[string]func(*testing.T, string) string{
		"wide": func(t *testing.T, repo string) string { return repeated(t, repo, 12) },
		"hollow": func(t *testing.T, repo string) string {
			return repeatedEntry(t, repo, 12, "040000 tree "+gitInput(t, repo, "", "mktree"))
		},
		"deep": func(t *testing.T, repo string) string { return nested(t, repo, 80) },
	} {
		t.Run(name, func(t *testing.T) {
			remote := bareRemote(t)
			a, b := newHome(t, "a", remote), newHome(t, "b", remote)
			a.append(t, testMessage(1, 1))
			a.sync(t)
			good := gitOut(t, remote, "rev-parse", "main")
			tree := gitOut(t, remote, "ls-tree", "main") + "\n040000 tree " + bomb(t, remote) + "\tzz\n"
			moveByHand(t, remote, gitInput(t, remote, tree, "mktree"), good)
			err := b.Fetch(t.Context())
			if kind, _ := b.contact.kindOf(err); kind != KindHuge {
				t.Fatalf("the fetch gave %v, of the kind %q", err, kind)
			}
			if b.Place(testMessage(1, 1).Path) == Absent {
				t.Error("what was pushed before it did not come")
			}
			if got := gitOut(t, b.repo(), "ls-tree", "main", "zz"); got != "" {
				t.Errorf("of it was taken in: %s", got)
			}
			gitOut(t, remote, "update-ref", "refs/heads/main", good)
			b.sync(t)
			if s := b.Status(); s.Trouble.Kind != KindNone || s.Unpushed != 0 {
				t.Errorf("once the remote was set back: %+v", s)
			}
		})
	}
}

// What repeats is weighed as often as it stands there. What is the same on both sides is not
// weighed at all.
func TestWeigh(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	repo := filepath.Join(h.opts.Dir, "record.git")
	small, large := plumbing.NewHash(repeated(t, repo, 2)), plumbing.NewHash(repeated(t, repo, 3))
	for _, c := range []struct {
		old, new objects.Hash
		most     int
		huge     bool
	}{
		{objects.Zero, large, 1000, false},
		{objects.Zero, large, 999, true},
		{large, objects.Zero, 999, true},
		{large, large, 0, false},
		{small, large, 1099, true},
		{small, large, 1100, false},
	} {
		if err := h.store.Weigh(c.old, c.new, c.most); (err != nil) != c.huge {
			t.Errorf("%s to %s, at most %d: %v", c.old, c.new, c.most, err)
		}
	}
}

//go:build failpoint

package gitsync

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// TestDieAtEveryPoint kills a process that shares a record between two homes. It does so at every
// point, at the first hit and at a later one. It prevents: a message that was acknowledged and is
// lost, doubled or unreadable, an empty ref, a repository that git finds fault with, and a home
// that does not start again.
func TestDieAtEveryPoint(t *testing.T) {
	var mu sync.Mutex // guards longest
	longest := time.Duration(0)
	note := func(took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		longest = max(longest, took)
	}
	t.Cleanup(func() { t.Logf("the longest restart took %s", longest) })
	for _, p := range failpoint.All() {
		room, _, _ := strings.Cut(string(p), "/")
		if room == "node" || room == "home" || p == failpoint.JournalRolled || p == failpoint.JournalCompacted {
			continue // their own tests are in cmd/parley and in journal
		}
		hits := []int{1, 2 + rand.IntN(12)}
		if os.Getenv("PARLEY_SOAK") != "" {
			hits = []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 40, 60}
		}
		t.Run(strings.ReplaceAll(string(p), "/", "-"), func(t *testing.T) {
			t.Parallel()
			for _, n := range hits {
				note(dieAt(t, p, n))
			}
		})
	}
}

// dieAt lets the child die at the n-th hit of a point, and looks at what is left. It returns the
// longest time that a home took to open again.
func dieAt(t *testing.T, p failpoint.Point, n int) time.Duration {
	t.Helper()
	dir, remote := t.TempDir(), bareRemote(t)
	shared, builtin := remote, false
	switch p {
	case failpoint.PackReceived, failpoint.PackTaken:
		shared, builtin = httpRemote(t, remote, "", ""), true
	case failpoint.PushCopied:
		builtin = true
	}
	for _, name := range []string{"a", "b"} {
		if _, err := Init(t.Context(), stepsOptions(dir, name, shared, builtin), rootFiles); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{stepsHome + "=" + dir, stepsRemote + "=" + shared, fmt.Sprintf("%s=%s:%d", failpoint.Variable, p, n)}
	if builtin {
		env = append(env, crashBuiltin+"=1")
	}
	tried, stored, died := runSteps(t, env)
	if !died {
		if n == 1 {
			t.Errorf("the child never came to %s", p)
		}
		return 0
	}
	repos := []string{filepath.Join(dir, "a", repoName), filepath.Join(dir, "b", repoName), remote}
	for _, repo := range repos {
		wantWholeRef(t, repo)
		gitOut(t, repo, "fsck", "--strict", "--no-dangling")
	}
	longest := time.Duration(0)
	for _, name := range []string{"a", "b", "a"} { // a again, for what b brought
		longest = max(longest, restart(t, name, stepsOptions(dir, name, shared, builtin), tried))
	}
	for _, repo := range repos {
		wantWholeRef(t, repo)
		wantOnceEach(t, repo, tried, stored)
		if left := leftovers(t, repo); len(left) > 0 && repo != remote {
			t.Errorf("left in %s: %q", repo, left)
		}
		gitOut(t, repo, "fsck", "--strict", "--no-dangling")
	}
	wantClean(t, remote)
	if t.Failed() {
		t.Fatalf("after the death at %s, hit %d", p, n)
	}
	return longest
}

// restart opens a home again and sends all its messages once more. A sender that got no answer asks
// again, and so may one that got an answer.
func restart(t *testing.T, name string, opts Options, tried []step) time.Duration {
	t.Helper()
	began := time.Now()
	r, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	for _, s := range tried {
		if s.home != name {
			continue
		}
		if err := r.Append(t.Context(), []MessageFile{stepsMessage(name, s.n)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Sync(t.Context()), r.Close()); err != nil {
		t.Fatal(err)
	}
	return took
}

// step is one message of the child.
type step struct {
	home string
	n    int
}

func runSteps(t *testing.T, env []string) (tried, stored []step, died bool) {
	t.Helper()
	cmd, out := startChild(t, env...)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var word string
		var s step
		if _, err := fmt.Sscan(lines.Text(), &word, &s.home, &s.n); err != nil {
			t.Errorf("the child says %q", lines.Text())
		}
		if word == "ok" {
			stored = append(stored, s)
		} else {
			tried = append(tried, s)
		}
	}
	err := cmd.Wait()
	if err != nil && cmd.ProcessState.ExitCode() > 0 {
		t.Fatalf("the child failed: %v", err)
	}
	return tried, stored, err != nil
}

// wantWholeRef reads main as a file. Git no longer reads a ref that a crash left empty.
func wantWholeRef(t *testing.T, repo string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repo, filepath.FromSlash(carrier.MainRef)))
	if err != nil || len(data) != 41 || !plumbing.IsHash(string(data[:40])) {
		t.Errorf("main of %s is %q, %v", repo, data, err)
	}
}

// wantOnceEach wants each message that was tried, and asked for again, once in main. It is at its
// path or, if two contents have this path, kept as a conflict.
func wantOnceEach(t *testing.T, repo string, tried, stored []step) {
	t.Helper()
	at := map[string][]string{} // paths by blob
	for line := range strings.Lines(gitOut(t, repo, "ls-tree", "-r", "main")) {
		fields := strings.Fields(line)
		at[fields[2]] = append(at[fields[2]], fields[3])
	}
	acknowledged := map[step]bool{}
	for _, s := range stored {
		acknowledged[s] = true
	}
	for _, s := range tried {
		l := stepsMessage(s.home, s.n)
		places := at[objects.BlobHash(l.Data).String()]
		ok := len(places) == 1 && (places[0] == l.Path.RepoPath() || places[0] == conflictPath(l.Path.String(), l.Data))
		if !ok {
			t.Errorf("message %d of %s (acknowledged: %v) is at %q in %s", s.n, s.home, acknowledged[s], places, repo)
		}
	}
}

package gitsync

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// racer is an operator who works in a record without a pause, with the git program.
type racer struct {
	repo  string
	clone string // a plain clone, from which the racer pushes into the record
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu   sync.Mutex // guards made and runs
	made []string   // paths of messages that git said are in main
	runs map[string]int
}

// race starts a racer. Its end waits for its last command.
func race(t *testing.T, repo string) *racer {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &racer{repo: repo, clone: filepath.Join(t.TempDir(), "clone"), stop: stop, runs: map[string]int{}}
	gitOut(t, t.TempDir(), "clone", "--quiet", "--bare", "--no-local", repo, r.clone)
	t.Cleanup(func() { t.Logf("by hand: %d messages taken; what git did: %v", len(r.end()), r.runs) })
	r.work.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			switch n % 5 {
			case 0:
				r.message(repo, n)
			case 1:
				r.git(repo, "", "gc", "--quiet", "--prune=now")
			case 2:
				r.push(n)
			case 3:
				r.git(repo, "", "repack", "-dq")
			case 4:
				r.git(repo, "", "pack-refs", "--all")
			}
		}
	})
	return r
}

// end stops the operator and returns what git took from the operator.
func (r *racer) end() []string {
	r.stop()
	r.work.Wait()
	return r.made
}

// git runs the git program, which may fail: it meets locks, and packs that go.
func (r *racer) git(dir, input string, args ...string) (string, bool) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(ownEnvironment(), "GIT_INDEX_FILE="+filepath.Join(r.clone, "by-hand"),
		"GIT_AUTHOR_NAME=op", "GIT_AUTHOR_EMAIL=o@example.org", "GIT_COMMITTER_NAME=op", "GIT_COMMITTER_EMAIL=o@example.org")
	out, err := cmd.Output()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.runs[args[0]]++
	}
	return strings.TrimSpace(string(out)), err == nil
}

// message commits one message in a repository by hand, if nobody else moves main
// meanwhile.
func (r *racer) message(dir string, n int) {
	parent, ok := r.git(dir, "", "rev-parse", "main")
	if !ok {
		return
	}
	l := testMessage(200, n)
	blob, ok := r.git(dir, string(l.Data), "hash-object", "-w", "--stdin")
	if _, read := r.git(dir, "", "read-tree", parent); !ok || !read {
		return
	}
	_, ok = r.git(dir, "", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+l.Path.RepoPath())
	tree, written := r.git(dir, "", "write-tree")
	if !ok || !written {
		return
	}
	commit, ok := r.git(dir, "", "commit-tree", "-p", parent, "-m", fmt.Sprint("by hand ", n), tree)
	if !ok {
		return
	}
	if _, ok = r.git(dir, "", "update-ref", "refs/heads/main", commit, parent); ok && dir == r.repo {
		r.note(l)
	}
}

// push commits in the clone and pushes the commit into the record.
func (r *racer) push(n int) {
	if _, ok := r.git(r.clone, "", "fetch", "--quiet", r.repo, "+main:main"); !ok {
		return
	}
	r.message(r.clone, n)
	if _, ok := r.git(r.clone, "", "push", "--quiet", r.repo, "main:main"); !ok {
		return
	}
	l := testMessage(200, n)
	if out, ok := r.git(r.clone, "", "ls-tree", "--name-only", "main", l.Path.RepoPath()); ok && out != "" {
		r.note(l)
	}
}

func (r *racer) note(l MessageFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, l.Path.String())
}

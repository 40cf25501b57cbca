package carrier

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// Less than two kilobytes had git take 1.6 GB at each fetch, and the remote was called unreachable.
func TestGitsMemoryIsBounded(t *testing.T) {
	store, _ := newStore(t)
	if err := os.WriteFile(filepath.Join(store.Dir(), "HEAD"), []byte("ref: "+MainRef+"\n"), 0o600); err != nil { // without it git sees no repository
		t.Fatal(err)
	}
	remote := t.TempDir()
	git := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = remote, strings.NewReader(input)
		cmd.Env = append(gitEnvironment(os.Environ()), "GIT_CONFIG_GLOBAL="+os.DevNull,
			"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git("", "init", "--quiet", "--bare", "--initial-branch=main", ".")
	zeros, files := strings.Repeat("0", 20<<20), ""
	for _, name := range []string{"a", "b"} {
		files += "100644 blob " + git(zeros+name, "hash-object", "-w", "--stdin") + "\t" + name + "\n"
	}
	bomb := git("", "commit-tree", "-m", "x", git(files, "mktree"))
	git("", "update-ref", MainRef, bomb)
	git("", "repack", "-adq")
	packs, err := filepath.Glob(filepath.Join(remote, "objects/pack/*.pack"))
	if info, statErr := os.Stat(packs[0]); err != nil || statErr != nil || info.Size() > 200<<10 {
		t.Fatalf("the bomb is none: %v, %v, %v", packs, err, statErr)
	}
	g := newGitProgram(store.Dir(), remote, store)
	g.memory.Store(20 << 20)
	if err := g.FetchMain(t.Context()); !errors.Is(err, objects.ErrHuge) || !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "more than 20 MiB") {
		t.Fatalf("the fetch gave %v", err)
	}
	g.Unbound()
	if err := g.FetchMain(t.Context()); err != nil {
		t.Errorf("without the bound: %v", err)
	}
}

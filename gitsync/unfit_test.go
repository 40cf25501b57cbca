package gitsync

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync/carrier"
)

// unfitRemotes makes repositories that can be reached and cannot be shared. With each it returns a
// part of what is said of it.
func unfitRemotes(t *testing.T) map[string]struct{ remote, says string } {
	t.Helper()
	full := bareRemote(t)
	h := newHome(t, "first", full)
	h.append(t, testMessage(1, 1))
	h.sync(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	gitOut(t, dir, "init", "--quiet", "--bare", "--object-format=sha256", at("empty256.git"))
	gitOut(t, dir, "init", "--quiet", "--bare", "--object-format=sha256", at("sha256.git"))
	gitOut(t, dir, "init", "--quiet", "--object-format=sha256", "--initial-branch=main", at("work256"))
	gitOut(t, at("work256"), "commit", "--quiet", "--allow-empty", "-m", "x")
	gitOut(t, at("work256"), "push", "--quiet", at("sha256.git"), "main")
	gitOut(t, full, "bundle", "create", "--quiet", at("record.bundle"), "main")
	gitOut(t, dir, "clone", "--quiet", "--bare", "--depth=1", "file://"+filepath.ToSlash(full), at("shallow.git"))
	gitOut(t, dir, "init", "--quiet", "--bare", at("nested.git"))
	gitOut(t, full, "push", "--quiet", at("nested.git"), "main:refs/heads/refs/heads/main")
	return map[string]struct{ remote, says string }{
		"SHA-256":           {at("sha256.git"), "--object-format=sha1"},
		"SHA-256 and empty": {at("empty256.git"), "--object-format=sha1"},
		"a bundle":          {at("record.bundle"), "git clone --bare"},
		"shallow":           {at("shallow.git"), "--unshallow"},
		"a nested main":     {at("nested.git"), "git branch -m refs/heads/main main"},
	}
}

// Somebody may name a repository through which no record can be shared. TestUnfitRemotesAreNamed
// prevents that they read git's riddle about it, or have a half-made home.
func TestUnfitRemotesAreNamed(t *testing.T) {
	t.Parallel()
	remotes := unfitRemotes(t)
	for _, carrier := range []string{"git", "builtin"} {
		for name, c := range remotes {
			t.Run(carrier+"/"+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "home")
				opts := Options{Dir: dir, Remote: c.remote, Author: Author{Name: "a"}, Builtin: isBuiltin(t)}
				_, err := Init(t.Context(), opts, rootFiles)
				if !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("Init: %v", err)
				}
				if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
					t.Error("something was left behind")
				}
			})
		}
	}
}

// The docs advise that a server checks objects. TestTheRemoteMayCheckWhatItIsGiven prevents that
// such a server refuses what parley writes, or lets in the commit against which the check is
// advised.
func TestTheRemoteMayCheckWhatItIsGiven(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	gitOut(t, remote, "config", "receive.fsckObjects", "true")
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	for n := range 3 {
		for i, h := range []*home{a, b} {
			h.append(t, testMessage(i, n))
			h.sync(t)
		}
	}
	if got := len(messages(t, remote, "main")); got != 6 {
		t.Errorf("%d messages are on the remote, want 6", got)
	}
	tree := gitOut(t, a.repo(), "rev-parse", "main^{tree}")
	old := gitInput(t, a.repo(), "tree "+tree+"\nauthor o <o@x> -1 +0000\ncommitter o <o@x> -1 +0000\n\nold\n",
		"hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	cmd := exec.Command("git", "push", remote, old+":refs/heads/old")
	cmd.Dir = a.repo()
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("a commit of 1969 was let in: %s", out)
	}
}

// TestUnfitRemotesOverHTTPAreNamed prevents the same over HTTP, where only git's protocol tells
// what is wrong.
func TestUnfitRemotesOverHTTPAreNamed(t *testing.T) {
	t.Parallel()
	remotes := unfitRemotes(t)
	for _, carrier := range []string{"git", "builtin"} {
		for name, c := range remotes {
			if name == "a bundle" {
				continue
			}
			t.Run(carrier+"/"+name, func(t *testing.T) {
				url := strings.Replace(httpRemote(t, c.remote, "nat", "secret"), "://", "://nat:secret@", 1)
				opts := Options{Dir: filepath.Join(t.TempDir(), "home"), Remote: url, Author: Author{Name: "a"}, Builtin: isBuiltin(t)}
				_, err := Init(t.Context(), opts, rootFiles)
				if !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("Init: %v", err)
				}
			})
		}
	}
}

// TestARemoteThatBecameUnfit prevents two failures. If somebody renames main of a shared repository
// to refs/heads/refs/heads/main, git goes on fetching and pushing as if nothing were wrong.
// Everybody else finds no main. If a repository was replaced by a shallow one, git fetches nothing
// from it and calls that a success.
func TestARemoteThatBecameUnfit(t *testing.T) {
	t.Parallel()
	t.Run("nested", func(t *testing.T) {
		remote := bareRemote(t)
		h := newHome(t, "a", remote)
		gitOut(t, remote, "update-ref", "refs/heads/refs/heads/main", "main")
		gitOut(t, remote, "update-ref", "-d", carrier.MainRef)
		h.append(t, testMessage(1, 1))
		if err := h.Sync(t.Context()); err == nil {
			t.Error("a push to another branch counts as pushed")
		}
		if s := h.Status(); s.Trouble.Kind != KindUnfit || s.Pushes != 0 {
			t.Errorf("trouble %+v, %d pushes", s.Trouble, s.Pushes)
		}
	})
	t.Run("shallow", func(t *testing.T) {
		remote := bareRemote(t)
		a, b := newHome(t, "a", remote), newHome(t, "b", remote)
		for n := range 3 {
			b.append(t, testMessage(2, n))
			b.sync(t)
		}
		shallow := filepath.Join(t.TempDir(), "shallow.git")
		gitOut(t, t.TempDir(), "clone", "--quiet", "--bare", "--depth=1", "file://"+filepath.ToSlash(remote), shallow)
		if err := errors.Join(os.RemoveAll(remote), os.Rename(shallow, remote)); err != nil {
			t.Fatal(err)
		}
		if err := a.Fetch(t.Context()); !errors.Is(err, ErrUnfit) || a.Status().Trouble.Kind != KindUnfit {
			t.Errorf("Fetch: %v", err)
		}
	})
}

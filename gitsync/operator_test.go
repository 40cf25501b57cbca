package gitsync

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// commitByHand does what an operator does in a bare repository.
func commitByHand(t *testing.T, repo string, messages ...MessageFile) {
	t.Helper()
	files := map[string][]byte{}
	for _, l := range messages {
		files[l.Path.RepoPath()] = l.Data
	}
	commitFilesByHand(t, repo, files)
}

func commitFilesByHand(t *testing.T, repo string, files map[string][]byte) {
	t.Helper()
	index := filepath.Join(t.TempDir(), "index")
	git := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		cmd.Stdin = strings.NewReader(input)
		cmd.Env = append(ownEnvironment(), "GIT_INDEX_FILE="+index,
			"GIT_AUTHOR_NAME=op", "GIT_AUTHOR_EMAIL=o@example.org", "GIT_COMMITTER_NAME=op", "GIT_COMMITTER_EMAIL=o@example.org")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	parent := git("", "rev-parse", "main")
	git("", "read-tree", "main")
	for path, data := range files {
		blob := git(string(data), "hash-object", "-w", "--stdin")
		git("", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
	}
	commit := git("", "commit-tree", "-p", parent, "-m", "by hand", git("", "write-tree"))
	git("", "update-ref", "refs/heads/main", commit, parent)
}

func TestOperatorCommitsByHand(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	mine, hand, theirs := testMessage(1, 1), testMessage(3, 2), testMessage(2, 3)
	a.append(t, mine)
	if err := a.main.commit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	commitByHand(t, a.repo(), hand)
	b.append(t, theirs)
	b.sync(t)
	a.sync(t)
	wantSame(t, "messages", messages(t, remote, "main"), paths(mine, hand, theirs))
	wantSame(t, "arrived", a.seen.get(&a.seen.arrived), paths(hand, theirs))
	wantOnce(t, "pushed by a", a.seen.get(&a.seen.pushed), 2)
	if got := gitOut(t, remote, "log", "--format=%s", "--author=op", "main"); got != "by hand" {
		t.Errorf("the operator's commit is not in the history: %q", got)
	}
	if got := gitOut(t, remote, "log", "-1", "--format=%p", "main"); len(strings.Fields(got)) != 2 {
		t.Errorf("the tip has the parents %q", got)
	}
	wantClean(t, a.repo())
	wantClean(t, remote)
}

// Crosstalk A3.
func TestOperatorCommitIsNoticedByRun(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	a.run(t)
	hand := testMessage(3, 2)
	commitByHand(t, a.repo(), hand)
	eventually(t, "the message arrives", func() bool { return len(a.seen.get(&a.seen.arrived)) == 1 })
	a.append(t, testMessage(1, 3))
	eventually(t, "ours is recorded", func() bool { return a.Place(testPath(1, 3)) == Recorded })
	wantSame(t, "messages", messages(t, a.repo(), "main"), []string{hand.Path.String(), testPath(1, 3).String()})
}

func TestOperatorSetsMainBackOrDeletesIt(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	root := a.Tip()
	one := testMessage(1, 1)
	a.append(t, one)
	a.sync(t)
	gitOut(t, a.repo(), "update-ref", carrier.MainRef, root)
	a.sync(t)
	wantSame(t, "messages", messages(t, a.repo(), "main"), paths(one))
	gitOut(t, a.repo(), "pack-refs", "--all")
	a.append(t, testMessage(1, 2))
	a.sync(t)
	gitOut(t, a.repo(), "update-ref", "-d", carrier.MainRef)
	a.sync(t)
	wantSame(t, "messages", messages(t, a.repo(), "main"), []string{one.Path.String(), testPath(1, 2).String()})
	wantClean(t, a.repo())
}

func TestCommitsSurviveGcAndRepackInBetween(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	// An object is installed and no ref names it yet. A gc must not remove it at this moment.
	var b objects.Builder
	blob := b.Blob([]byte("not yet referenced\n"))
	if err := a.store.Install(&b); err != nil {
		t.Fatal(err)
	}
	gitOut(t, a.repo(), "gc", "--quiet", "--prune=now")
	if got := gitOut(t, a.repo(), "cat-file", "-t", blob.String()); got != "blob" {
		t.Errorf("the object is a %s", got)
	}
	a.run(t)
	var all []MessageFile
	for n := range 120 {
		l := testMessage(1, n)
		all = append(all, l)
		a.append(t, l)
		if n%20 == 0 {
			gitOut(t, a.repo(), "repack", "-adq")
			gitOut(t, a.repo(), "prune", "--expire=now")
		}
	}
	eventually(t, "all are recorded", func() bool { return a.Status().Unrecorded == 0 })
	wantSame(t, "messages", messages(t, a.repo(), "main"), paths(all...))
	wantClean(t, a.repo())
}

func TestOpenRepairs(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	one := testMessage(1, 1)
	a.append(t, one)
	a.sync(t)
	a.close(t)
	pack := filepath.Join(a.repo(), "objects", "pack")
	writeFile(t, filepath.Join(a.repo(), carrier.MainRef+".lock"), "")
	writeFile(t, filepath.Join(pack, "tmp_parley_1"), "half")
	writeFile(t, filepath.Join(pack, "pack-1234567890123456789012345678901234567890.keep"), "parley: the rolling pack, see gitsync/objects\n")
	indexes, err := filepath.Glob(filepath.Join(pack, "*.idx"))
	if err != nil || len(indexes) == 0 {
		t.Fatal(indexes, err)
	}
	for _, name := range indexes {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Minute)
		if err := os.Chtimes(strings.TrimSuffix(name, ".idx")+".pack", old, old); err != nil {
			t.Fatal(err)
		}
	}
	a.open(t)
	a.append(t, testMessage(1, 2))
	a.sync(t)
	wantSame(t, "messages", messages(t, a.repo(), "main"), []string{one.Path.String(), testPath(1, 2).String()})
	wantClean(t, a.repo())
	left, err := filepath.Glob(filepath.Join(pack, "*"))
	if err != nil || strings.Contains(strings.Join(left, " "), "tmp_") || strings.Contains(strings.Join(left, " "), "pack-12345") {
		t.Errorf("left in the pack folder: %q, %v", left, err)
	}
}

func TestOpenRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, add, says string }{
		{"SHA-256", "[extensions]\n\tobjectformat = sha256\n", "object-format=sha1"},
		{"reftable", "[extensions]\n\trefstorage = reftable\n", "refs migrate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newHome(t, "a", "")
			a.close(t)
			writeFile(t, filepath.Join(a.repo(), "config"), bareConfig+c.add)
			if _, err := Open(t.Context(), a.opts); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Open: %v", err)
			}
		})
	}
	t.Run("another version", func(t *testing.T) {
		a := newHome(t, "a", "")
		if err := a.PutFile(versionFile, []byte("6.0\n")); err != nil {
			t.Fatal(err)
		}
		if err := a.Sync(t.Context()); !errors.As(err, new(*UnusableError)) {
			t.Errorf("Sync: %v", err)
		}
		a.close(t)
		if _, err := Open(t.Context(), a.opts); !errors.Is(err, ErrForeign) {
			t.Errorf("Open: %v", err)
		}
	})
}

// A crash of the system can leave the ref of main empty, or let it name what was never written. The
// ref is put back to what it named, and nothing is lost.
func TestOpenHealsMain(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for name, breaks := range map[string]func(t *testing.T, h *home, ref string){
		"empty":   func(t *testing.T, _ *home, ref string) { writeFile(t, ref, "") },
		"garbage": func(t *testing.T, _ *home, ref string) { writeFile(t, ref, "\x00\x00\x00\x00") },
		"gone": func(t *testing.T, _ *home, ref string) {
			if err := os.Remove(ref); err != nil {
				t.Fatal(err)
			}
		},
		"a commit that is not there": func(t *testing.T, _ *home, ref string) { writeFile(t, ref, strings.Repeat("1", 40)+"\n") },
		"empty, and only the remote knows": func(t *testing.T, h *home, ref string) {
			writeFile(t, ref, "")
			writeFile(t, filepath.Join(h.repo(), tipName), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "a", bareRemote(t))
			h.append(t, testMessage(1, 1))
			h.sync(t)
			h.append(t, testMessage(1, 2))
			h.sync(t)
			tip := h.Tip()
			h.close(t)
			breaks(t, h, filepath.Join(h.repo(), filepath.FromSlash(carrier.MainRef)))
			h.open(t)
			if h.Tip() != tip {
				t.Errorf("main is %s, was %s", h.Tip(), tip)
			}
			if !strings.Contains(h.log.String(), "main was broken") {
				t.Error("it was not said")
			}
			h.append(t, testMessage(1, 3))
			h.sync(t)
			if got := len(messages(t, h.repo(), "main")); got != 3 {
				t.Errorf("%d messages, want 3", got)
			}
			wantClean(t, h.repo())
		})
	}
	t.Run("nothing knows", func(t *testing.T) {
		h := newHome(t, "a", "")
		h.append(t, testMessage(1, 1))
		h.sync(t)
		tip := h.Tip()
		h.close(t)
		for _, file := range []string{filepath.FromSlash(carrier.MainRef), tipName} {
			writeFile(t, filepath.Join(h.repo(), file), "")
		}
		h.open(t)
		if h.Tip() != tip {
			t.Errorf("main is %s, was %s", h.Tip(), tip)
		}
		if len(h.Lost()) == 0 {
			t.Error("it is not said that something may be missing")
		}
	})
}

// If a crash broke what is remembered of the remote, it is fetched again.
func TestOpenForgetsABrokenRemote(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"empty": "", "a commit that is not there": strings.Repeat("1", 40) + "\n"} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "a", bareRemote(t))
			h.append(t, testMessage(1, 1))
			h.sync(t)
			h.close(t)
			for _, ref := range []string{carrier.RemoteRef, carrier.FetchedRef} {
				writeFile(t, filepath.Join(h.repo(), filepath.FromSlash(ref)), content)
			}
			h.open(t)
			h.append(t, testMessage(1, 2))
			h.sync(t)
			if got := len(messages(t, h.opts.Remote, "main")); got != 2 {
				t.Errorf("%d messages on the remote, want 2", got)
			}
			wantClean(t, h.repo())
		})
	}
}

// If a crash left an object file empty, git would not write the object again.
func TestOpenRemovesEmptyObjects(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	h.append(t, testMessage(1, 1))
	h.sync(t)
	h.close(t)
	blob := strings.TrimSpace(gitInput(t, h.repo(), "text\n", "hash-object", "--stdin"))
	file := filepath.Join(h.repo(), "objects", blob[:2], blob[2:])
	writeFile(t, file, "")
	h.open(t)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty object stays: %v", err)
	}
	if got := strings.TrimSpace(gitInput(t, h.repo(), "text\n", "hash-object", "-w", "--stdin")); got != blob {
		t.Errorf("git wrote %s", got)
	}
	wantClean(t, h.repo())
}

func TestMovingMainComparesUnderTheLock(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	wrong := plumbing.NewHash(strings.Repeat("1", 40))
	if err := a.store.MoveRef(carrier.MainRef, wrong, wrong); !errors.Is(err, objects.ErrRefMoved) {
		t.Errorf("MoveRef: %v", err)
	}
	if _, err := os.Stat(filepath.Join(a.repo(), carrier.MainRef+".lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
}

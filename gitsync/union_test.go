package gitsync

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// editedFiles are the kinds of files that people edit with plain git.
var editedFiles = []string{
	"hosts/a.md", "local/actors/reviewer.md", "local/JITTER.md",
	"data/channels/" + testChannel.String() + "/CHANNEL.md", "data/memories/20260523T190000000Z-b2c3d4e5.md",
}

const editedBase = "---\nname: a\nrole: one\n---\n\ntext\n"

// twoSides makes a record and a clone of its remote. Both have `file`.
func twoSides(t *testing.T, file string) (h *home, clone string) {
	t.Helper()
	remote := bareRemote(t)
	h = newHome(t, "a", remote)
	if err := h.WriteFile(t.Context(), file, []byte(editedBase)); err != nil {
		t.Fatal(err)
	}
	h.sync(t)
	clone = filepath.Join(t.TempDir(), "clone")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, clone)
	return h, clone
}

// pushEdit lets plain git change a file or, with "", remove it.
func pushEdit(t *testing.T, clone, file, text string) {
	t.Helper()
	if text == "" {
		gitOut(t, clone, "rm", "--quiet", file)
	} else {
		writeFile(t, filepath.Join(clone, file), text)
		gitOut(t, clone, "add", "-A")
	}
	gitOut(t, clone, "commit", "--quiet", "-m", "edited by hand")
	gitOut(t, clone, "push", "--quiet")
}

func edited(old, new string) string { return strings.Replace(editedBase, old, new, 1) }

// wantFile compares a file here and on the remote.
func wantFile(t *testing.T, h *home, file, want string) {
	t.Helper()
	got, ok, err := h.ReadFile(file)
	if err != nil || !ok || string(got) != want {
		t.Errorf("%s is %q, %v, %v; want %q", file, got, ok, err, want)
	}
	if on := gitOut(t, h.opts.Remote, "show", "main:"+file); on != strings.TrimSpace(want) {
		t.Errorf("on the remote %s is %q", file, on)
	}
}

func conflicts(t *testing.T, h *home) []string {
	t.Helper()
	all, err := h.ListFiles(strings.TrimSuffix(conflictsPrefix, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFilesChangedOnTwoSides(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	if scratch.Longer() {
		t.Run("builtin", testFilesChangedOnTwoSides)
	}
	testFilesChangedOnTwoSides(t)
}

func testFilesChangedOnTwoSides(t *testing.T) {
	for _, file := range editedFiles {
		t.Run(strings.ReplaceAll(file, "/", "."), func(t *testing.T) {
			h, clone := twoSides(t, file)
			// Different fields: both changes count, and nobody need know.
			pushEdit(t, clone, file, edited("name: a", "name: b"))
			if err := h.WriteFile(t.Context(), file, []byte(edited("role: one", "role: two"))); err != nil {
				t.Fatal(err)
			}
			h.sync(t)
			both := "---\nname: b\nrole: two\n---\n\ntext\n"
			wantFile(t, h, file, both)
			if got := conflicts(t, h); len(got) > 0 || strings.Contains(h.log.String(), "elsewhere") {
				t.Errorf("kept %q; %s", got, h.log)
			}
			// The same field: what this node put stays. The other text is kept and named.
			gitOut(t, clone, "pull", "--quiet")
			theirs, mine := strings.Replace(both, "two", "theirs", 1), strings.Replace(both, "two", "mine", 1)
			pushEdit(t, clone, file, theirs)
			if err := h.WriteFile(t.Context(), file, []byte(mine)); err != nil {
				t.Fatal(err)
			}
			h.sync(t)
			wantFile(t, h, file, mine)
			kept := conflictPath(file, []byte(theirs))
			wantFile(t, h, kept, theirs)
			if log := h.log.String(); !strings.Contains(log, kept) || !strings.Contains(log, "(role)") {
				t.Errorf("it is not said: %s", log)
			}
			if of, ok := ConflictOf(kept); !ok || of != file {
				t.Errorf("%s is a version of %q, %v", kept, of, ok)
			}
			// Another host gets the same files.
			other := newHome(t, "b", h.opts.Remote)
			wantFile(t, other, file, mine)
			wantFile(t, other, kept, theirs)
			wantClean(t, h.opts.Remote)
		})
	}
}

// What an operator committed here gives way to what came from elsewhere, and is
// kept. It prevents: an edit that is lost because it was not the node's own.
func TestAnEditByHandThatGivesWayIsKept(t *testing.T) {
	t.Parallel()
	const file = "local/actors/reviewer.md"
	h, clone := twoSides(t, file)
	pushEdit(t, clone, file, edited("role: one", "role: theirs"))
	byHand := filepath.Join(t.TempDir(), "byhand")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", h.repo(), byHand)
	pushEdit(t, byHand, file, edited("role: one", "role: ours"))
	h.sync(t)
	wantFile(t, h, file, edited("role: one", "role: theirs"))
	wantFile(t, h, conflictPath(file, []byte(edited("role: one", "role: ours"))), edited("role: one", "role: ours"))
	if n := strings.Count(h.log.String(), "that from elsewhere stays"); n != 1 {
		t.Errorf("said %d times: %s", n, h.log)
	}
}

// If one side removed a file and the other side changed it, the file stays, whichever side it is. A
// file that nobody else touched goes.
func TestFilesRemovedOnOneSide(t *testing.T) {
	t.Parallel()
	const file = "local/actors/reviewer.md"
	t.Run("removed there, changed here", func(t *testing.T) {
		h, clone := twoSides(t, file)
		pushEdit(t, clone, file, "")
		if err := h.WriteFile(t.Context(), file, []byte(edited("role: one", "role: two"))); err != nil {
			t.Fatal(err)
		}
		h.sync(t)
		wantFile(t, h, file, edited("role: one", "role: two"))
		if !strings.Contains(h.log.String(), "removed elsewhere and changed here") {
			t.Errorf("it is not said: %s", h.log)
		}
	})
	t.Run("removed here, changed there", func(t *testing.T) {
		h, clone := twoSides(t, file)
		byHand := filepath.Join(t.TempDir(), "byhand")
		gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", h.repo(), byHand)
		pushEdit(t, byHand, file, "")
		pushEdit(t, clone, file, edited("role: one", "role: two"))
		h.sync(t)
		wantFile(t, h, file, edited("role: one", "role: two"))
		if !strings.Contains(h.log.String(), "removed here and changed elsewhere") {
			t.Errorf("it is not said: %s", h.log)
		}
	})
	t.Run("removed there alone", func(t *testing.T) {
		h, clone := twoSides(t, file)
		pushEdit(t, clone, file, "")
		h.append(t, testMessage(1, 1))
		h.sync(t)
		if _, ok, err := h.ReadFile(file); ok || err != nil {
			t.Errorf("it is there: %v, %v", ok, err)
		}
	})
}

// A link in a file's place is no text to merge.
func TestAFileThatBecameALink(t *testing.T) {
	t.Parallel()
	const file = "local/actors/reviewer.md"
	h, clone := twoSides(t, file)
	if err := os.Remove(filepath.Join(clone, file)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(clone, file)); err != nil {
		t.Skip(err)
	}
	gitOut(t, clone, "add", "-A")
	gitOut(t, clone, "commit", "--quiet", "-m", "a link")
	gitOut(t, clone, "push", "--quiet")
	if err := h.WriteFile(t.Context(), file, []byte(edited("role: one", "role: two"))); err != nil {
		t.Fatal(err)
	}
	h.sync(t)
	wantFile(t, h, file, edited("role: one", "role: two"))
	if n := len(conflicts(t, h)); n != 1 {
		t.Errorf("%d versions are kept", n)
	}
	wantClean(t, h.opts.Remote)
}

package gitsync

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/protocol"
)

// sinceOf lists what WalkSince visits.
func sinceOf(t *testing.T, h *home, commit string) ([]string, error) {
	t.Helper()
	var visited []string
	err := h.WalkSince(t.Context(), commit, func(l MessageFile) error {
		visited = append(visited, l.Path.String()+" "+string(l.Data))
		return nil
	})
	return visited, err
}

func visit(messages ...MessageFile) []string {
	var all []string
	for _, l := range messages {
		all = append(all, l.Path.String()+" "+string(l.Data))
	}
	return all
}

func TestWalkSince(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", bareRemote(t))
	one, two, three, four := testMessage(1, 1), testMessage(1, 2), testMessage(1, 3), testMessage(2, 4)
	h.append(t, one, two)
	h.sync(t)
	before, err := h.Told()
	if err != nil {
		t.Fatal(err)
	}
	h.append(t, three)
	h.sync(t)
	h.append(t, four) // in the journal alone
	got, err := sinceOf(t, h, before)
	if diff := cmp.Diff(visit(three, four), got); diff != "" || err != nil {
		t.Errorf("since two messages: %v (-want +got):\n%s", err, diff)
	}
	got, err = sinceOf(t, h, h.Tip())
	if diff := cmp.Diff(visit(four), got); diff != "" || err != nil {
		t.Errorf("since main: %v (-want +got):\n%s", err, diff)
	}
	for _, commit := range []string{"", "main", strings.Repeat("0123456789", 4), strings.Repeat("f", 64)} {
		if _, err := sinceOf(t, h, commit); !errors.Is(err, ErrNotSince) {
			t.Errorf("since %q: %v", commit, err)
		}
	}
}

// WalkSince also goes on from a commit that is no ancestor of main. A node's own commits are
// replaced by others when it takes in what the remote has.
func TestWalkSinceACommitThatWasReplaced(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	mine, theirs := testMessage(1, 1), testMessage(2, 2)
	a.append(t, mine)
	if err := a.main.commit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	before, err := a.Told()
	if err != nil {
		t.Fatal(err)
	}
	b.append(t, theirs)
	b.sync(t)
	a.sync(t)
	if out := gitOut(t, a.repo(), "rev-list", "main"); strings.Contains(out, before) {
		t.Fatal("the commit was not replaced: the test shows nothing")
	}
	got, err := sinceOf(t, a, before)
	if diff := cmp.Diff(visit(theirs), got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A message may give way to another one and be kept as a conflict. If a message is gone or was
// changed, WalkSince returns ErrNotSince.
func TestWalkSinceSeesWhatIsGone(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	one, two := testMessage(1, 1), testMessage(1, 2)
	h.append(t, one, two)
	h.sync(t)
	before := h.Tip()
	other := MessageFile{Path: one.Path, Data: []byte("---\nfrom: x\n---\n\nother\n")}
	h.append(t, other)
	h.sync(t)
	got, err := sinceOf(t, h, before)
	if err != nil || len(got) == 0 || len(got) > 2 {
		t.Errorf("after a conflict: %q, %v", got, err)
	}
	all, err := sinceOf(t, h, h.ID())
	if err != nil || len(all) != 3 {
		t.Errorf("since the first commit: %q, %v", all, err)
	}
	// The commit by hand has one message more. Main is set back to what came before it.
	after := h.Tip()
	commitByHand(t, h.repo(), testMessage(3, 3))
	byHand := gitOut(t, h.repo(), "rev-parse", "main")
	gitOut(t, h.repo(), "update-ref", "refs/heads/main", after)
	if _, err := sinceOf(t, h, byHand); !errors.Is(err, ErrNotSince) {
		t.Errorf("since a commit with more than main: %v", err)
	}
	changed := MessageFile{Path: two.Path, Data: []byte("---\nfrom: x\n---\n\nchanged\n")}
	commitByHand(t, h.repo(), changed)
	byHand = gitOut(t, h.repo(), "rev-parse", "main")
	gitOut(t, h.repo(), "update-ref", "refs/heads/main", after)
	if _, err := sinceOf(t, h, byHand); !errors.Is(err, ErrNotSince) {
		t.Errorf("since a commit with another content: %v", err)
	}
}

// A message that arrived and could not be told is not passed over. A caller that keeps what it was
// told must not take main for known.
func TestToldSaysWhatWasNotTold(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	if tip, err := a.Told(); err != nil || tip != a.Tip() {
		t.Fatalf("told %s, %v", tip, err)
	}
	b.append(t, testMessage(2, 1))
	b.sync(t)
	a.share.mu.Lock()
	err := a.share.fetch(t.Context())
	a.share.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(a.repo(), "objects", "pack", "*"))
	if err != nil {
		t.Fatal(err)
	}
	loose, err := filepath.Glob(filepath.Join(a.repo(), "objects", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(remote); err != nil { // else the message would be brought back from it
		t.Fatal(err)
	}
	for _, file := range append(packs, loose...) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if tip, err := a.Told(); err == nil {
		t.Errorf("told all of %s, although a message cannot be read", tip)
	}
}

func TestFilesOf(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	one, two := testMessage(1, 1), testMessage(1, 2)
	other := MessageFile{Path: one.Path, Data: []byte("---\nfrom: x\n---\n\nother\n")}
	h.append(t, one, other)
	h.sync(t)
	files, err := h.FilesOf(h.Tip())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []MessageFile{one, other} {
		if ok, err := files.Keep(l.Path, hashOf(l)); !ok || err != nil {
			t.Errorf("%q is not kept: %v", l.Data, err)
		}
	}
	if ok, err := files.Keep(one.Path, hashOf(two)); ok || err != nil {
		t.Errorf("what was never there is kept, %v", err)
	}
	if ok, err := files.Have(two.Path); ok || err != nil {
		t.Errorf("%s is there, %v", two.Path, err)
	}
	if _, err := h.FilesOf("main"); err == nil {
		t.Error("main is no name of a commit")
	}
}

func hashOf(l MessageFile) string { return protocol.Hash(l.Data) }

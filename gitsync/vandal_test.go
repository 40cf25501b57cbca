package gitsync

import (
	"errors"
	"strings"
	"testing"
)

// moveByHand moves main of a bare repository to a new commit of `tree`, as anybody can who may
// push.
func moveByHand(t *testing.T, repo, tree string, parents ...string) string {
	t.Helper()
	args := []string{"commit-tree", tree, "-m", "by hand"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	commit := gitOut(t, repo, args...)
	gitOut(t, repo, "update-ref", "refs/heads/main", commit)
	return commit
}

// treeWithout returns the tree of main without one of its folders.
func treeWithout(t *testing.T, repo, folder string) string {
	t.Helper()
	var left []string
	for _, line := range strings.Split(gitOut(t, repo, "ls-tree", "main"), "\n") {
		if !strings.HasSuffix(line, "\t"+folder) {
			left = append(left, line)
		}
	}
	return gitInput(t, repo, strings.Join(left, "\n")+"\n", "mktree")
}

// One file says whose record it is. If a commit takes it out, it is put back, as the version is.
func TestTheIdentityTakenOutIsPutBack(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	if err := a.PutFile(identityFile, []byte("---\nname: n\n---\n")); err != nil {
		t.Fatal(err)
	}
	a.sync(t)
	b.sync(t)
	moveByHand(t, remote, treeWithout(t, remote, "local"), gitOut(t, remote, "rev-parse", "main"))
	b.sync(t)
	if got := gitOut(t, remote, "show", "main:"+identityFile); !strings.Contains(got, "name: n") {
		t.Errorf("the remote has the identity %q", got)
	}
}

// If a commit takes the record's version away, the version is put back. It prevents that one "git
// rm -r upstream" of somebody who may push keeps every host of the fleet from starting again.
func TestTheVersionTakenOutIsPutBack(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	message := testMessage(1, 1)
	a.append(t, message)
	a.sync(t)
	moveByHand(t, remote, treeWithout(t, remote, "upstream"), gitOut(t, remote, "rev-parse", "main"))
	b.sync(t)
	a.sync(t)
	for _, h := range []*home{a, b} {
		h.close(t)
		h.open(t)
		if _, err := h.Get(message.Path); err != nil {
			t.Error(err)
		}
	}
	if got := gitOut(t, remote, "show", "main:"+versionFile); got != versionText {
		t.Errorf("the remote has the version %q", got)
	}
	if !strings.Contains(b.log.String(), "taken out of the record elsewhere") {
		t.Errorf("nothing was said:\n%s", b.log)
	}
	wantClean(t, remote)
}

// If something that is no version is written over the version, this is answered like its removal.
func TestTheVersionOverwrittenIsPutBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "5.0\n\n", "5.0\r\n", "nothing\n"} {
		remote := bareRemote(t)
		a, b := newHome(t, "a", remote), newHome(t, "b", remote)
		if err := a.PutFile(versionFile, []byte(text)); err != nil {
			t.Fatal(err)
		}
		a.sync(t)
		b.sync(t)
		a.close(t)
		a.open(t)
		a.sync(t)
		if got := gitOut(t, remote, "cat-file", "-p", "main:"+versionFile); got != versionText {
			t.Errorf("after %q the version is %q", text, got)
		}
	}
}

// A version may be taken out of a record, or overwritten with something that is no version. The
// record is opened and gets its version again. It prevents that a home which took such a commit in
// cannot be started until somebody mends record.git by hand.
func TestOpenPutsTheVersionBack(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	message := testMessage(1, 1)
	a.append(t, message)
	a.sync(t)
	a.close(t)
	moveByHand(t, a.repo(), treeWithout(t, a.repo(), "upstream"), gitOut(t, a.repo(), "rev-parse", "main"))
	a.open(t)
	a.sync(t)
	if got := gitOut(t, a.repo(), "show", "main:"+versionFile); got != versionText {
		t.Errorf("the version is %q", got)
	}
	wantSame(t, "messages", messages(t, a.repo(), "main"), paths(message))
	wantClean(t, a.repo())
}

// A history that has nothing to do with the record may be merged in front of it. The next host that
// sees this puts the record first again. It prevents that a host which joins takes the other
// history's first commit for the record's name, and refuses all signatures.
func TestAnotherHistoryMergedInFront(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	mine, theirs := testMessage(1, 1), testMessage(2, 2)
	a.append(t, mine)
	a.sync(t)
	tree, main := gitOut(t, remote, "rev-parse", "main^{tree}"), gitOut(t, remote, "rev-parse", "main")
	stranger := moveByHand(t, remote, tree)
	merged := moveByHand(t, remote, tree, stranger, main)
	b.append(t, theirs)
	b.sync(t)
	a.sync(t)
	c := newHome(t, "c", remote)
	if c.ID() != a.ID() || b.ID() != a.ID() {
		t.Errorf("the record is %s, %s and %s", a.ID(), b.ID(), c.ID())
	}
	wantSame(t, "messages", messages(t, remote, "main"), paths(mine, theirs))
	gitOut(t, remote, "merge-base", "--is-ancestor", merged, "main")
	wantClean(t, remote)
}

// Git reads a commit that ends with its header, and lets it be pushed. It prevents that one such
// commit keeps all hosts from taking in the remote, for ever.
func TestACommitWithoutAMessage(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	tree, main := gitOut(t, remote, "rev-parse", "main^{tree}"), gitOut(t, remote, "rev-parse", "main")
	bare := gitInput(t, remote, "tree "+tree+"\nparent "+main+
		"\nauthor x <x@example.org> 1790000000 +0000\ncommitter x <x@example.org> 1790000000 +0000\n",
		"hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	gitOut(t, remote, "update-ref", "refs/heads/main", bare)
	message := testMessage(1, 1)
	a.append(t, message)
	a.sync(t)
	b.sync(t)
	if _, err := b.Get(message.Path); err != nil {
		t.Error(err)
	}
}

// closes pushes another version into a remote, as anybody can who may push.
func closes(t *testing.T, remote string) (closed string) {
	t.Helper()
	blob := gitInput(t, remote, "6.0\n", "hash-object", "-w", "--stdin")
	upstream := gitInput(t, remote, "100644 blob "+blob+"\tCROSSTALK-VERSION\n", "mktree")
	entries := gitOut(t, remote, "ls-tree", "main")
	if tree := gitOut(t, remote, "rev-parse", "main:upstream"); !strings.Contains(entries, tree) {
		t.Fatalf("no %s in %s", tree, entries)
	} else {
		entries = strings.Replace(entries, tree, upstream, 1)
	}
	return moveByHand(t, remote, gitInput(t, remote, entries+"\n", "mktree"), gitOut(t, remote, "rev-parse", "main"))
}

// A host that does not know a version leaves a record of that version alone, says who did it, and
// goes on by itself when that is undone, by a commit or by setting main back. It prevents that an
// old program puts its version back into a record that was upgraded, and that one pushed line keeps
// every host from starting for ever.
func TestAnotherVersionStays(t *testing.T) {
	t.Parallel()
	for _, undo := range []string{"revert", "set back"} {
		remote := bareRemote(t)
		b := newHome(t, "b", remote)
		before := gitOut(t, remote, "rev-parse", "main")
		closed := closes(t, remote)
		message := testMessage(2, 1)
		b.append(t, message)
		unusable := new(UnusableError)
		if err := b.Sync(t.Context()); !errors.As(err, &unusable) || !errors.Is(err, ErrForeign) || unusable.Commit != closed || unusable.Author != "operator" {
			t.Fatalf("Sync: %v", err)
		}
		if trouble := b.Status().Trouble; trouble.Kind != KindUnusable || !strings.Contains(trouble.Advice, "git revert "+closed) {
			t.Errorf("status says %+v", trouble)
		}
		b.close(t)
		b.open(t)
		if err := b.Sync(t.Context()); !errors.As(err, &unusable) || gitOut(t, remote, "rev-parse", "main") != closed {
			t.Errorf("Sync after a start: %v", err)
		}
		if undo == "revert" {
			moveByHand(t, remote, before+"^{tree}", closed)
		} else {
			gitOut(t, remote, "update-ref", "refs/heads/main", before)
		}
		b.sync(t)
		if got := gitOut(t, remote, "show", "main:"+versionFile); got != versionText {
			t.Errorf("%s: the version is %q", undo, got)
		}
		wantSame(t, "messages", messages(t, remote, "main"), paths(message))
		wantClean(t, b.repo())
	}
}

// Main of a home may be of another version already: an operator has put it there, or an earlier
// version of parley has taken it in. With a remote such a home starts, writes nothing to main, and
// is well again when the remote is. Without one it says which commit has to be undone.
func TestMainOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, undo := range []string{"revert", "set back"} {
		remote := bareRemote(t)
		b := newHome(t, "b", remote)
		before := gitOut(t, remote, "rev-parse", "main")
		closed := closes(t, remote)
		b.close(t)
		gitOut(t, b.repo(), "fetch", "--quiet", remote, "+main:main", "+main:refs/remotes/origin/main")
		b.open(t)
		message := testMessage(2, 1)
		b.append(t, message)
		unusable := new(UnusableError)
		if err := b.Sync(t.Context()); !errors.As(err, &unusable) || unusable.Commit != closed {
			t.Errorf("Sync: %v", err)
		}
		if got := gitOut(t, b.repo(), "rev-parse", "main"); got != closed {
			t.Errorf("something was written: main is %s", got)
		}
		b.close(t)
		b.open(t)
		if undo == "revert" {
			moveByHand(t, remote, before+"^{tree}", closed)
		} else {
			gitOut(t, remote, "update-ref", "refs/heads/main", before)
		}
		b.sync(t)
		if got := gitOut(t, remote, "show", "main:"+versionFile); got != versionText {
			t.Errorf("%s: the version is %q", undo, got)
		}
		wantSame(t, "messages", messages(t, remote, "main"), paths(message))
		wantClean(t, b.repo())
	}
	a := newHome(t, "a", "")
	before := gitOut(t, a.repo(), "rev-parse", "main")
	closed := closes(t, a.repo())
	a.append(t, testMessage(1, 1))
	if err := a.Sync(t.Context()); !errors.As(err, new(*UnusableError)) {
		t.Errorf("Sync: %v", err)
	}
	a.close(t)
	unusable := new(UnusableError)
	if _, err := Open(t.Context(), a.opts); !errors.As(err, &unusable) || unusable.Commit != closed {
		t.Errorf("Open: %v", err)
	}
	moveByHand(t, a.repo(), before+"^{tree}", closed)
	a.open(t)
	a.sync(t)
	wantSame(t, "messages", messages(t, a.repo(), "main"), paths(testMessage(1, 1)))
}

// An operator may rewrite the whole of main in record.git ("git filter-branch"), while the node
// runs or not. Main is put back, and what the operator made is kept. It prevents that the host
// commits no more, and after a start takes the remote for that of another fleet.
func TestOperatorRewritesMainFromItsBeginning(t *testing.T) {
	t.Parallel()
	for _, down := range []bool{false, true} {
		remote := bareRemote(t)
		a := newHome(t, "a", remote)
		one, two := testMessage(1, 1), testMessage(1, 2)
		a.append(t, one)
		a.sync(t)
		if down {
			a.close(t)
		}
		foreign := moveByHand(t, a.repo(), gitOut(t, a.repo(), "rev-parse", "main^{tree}"))
		if down {
			a.open(t)
		}
		a.append(t, two)
		a.sync(t)
		wantSame(t, "messages", messages(t, remote, "main"), paths(one, two))
		if got := gitOut(t, a.repo(), "for-each-ref", "--format=%(objectname)", foreignPrefix+"*"); got != foreign {
			t.Errorf("down %v: kept is %q, not %s", down, got, foreign)
		}
		if !strings.Contains(a.log.String(), "another history") {
			t.Errorf("down %v: nothing was said:\n%s", down, a.log)
		}
		wantClean(t, a.repo())
	}
}

package gitsync

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Somebody renamed main at the remote. The host made main again, and what people wrote with plain
// git into the branch of the new name was read by nobody; nothing said so.
func TestRenamedMainIsNoticed(t *testing.T) {
	t.Parallel()
	t.Run("builtin", testRenamedMainIsNoticed)
	testRenamedMainIsNoticed(t)
}

func testRenamedMainIsNoticed(t *testing.T) {
	for _, moved := range []bool{false, true} {
		remote := bareRemote(t)
		a := newHome(t, "a", remote)
		a.append(t, testMessage(1, 1))
		a.sync(t)
		gitOut(t, remote, "branch", "old", "main~1")
		gitOut(t, remote, "branch", "-m", "main", "trunk")
		if moved {
			next := gitOut(t, remote, "commit-tree", "-m", "x", "-p", "trunk", "trunk^{tree}")
			gitOut(t, remote, "update-ref", "refs/heads/trunk", next)
		}
		a.append(t, testMessage(1, 2))
		if err := a.main.commit(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		a.share.mu.Lock()
		err := a.share.pushUntilTaken(t.Context()) // before any fetch
		a.share.mu.Unlock()
		if err == nil || strings.Contains(gitOut(t, remote, "branch"), "main") {
			t.Fatalf("moved %v: main was made again (%v)", moved, err)
		}
		at := a.Status().Trouble
		if at.Kind != KindRenamed || !strings.Contains(at.Text, "called trunk") || !strings.Contains(at.Advice, "git branch -m trunk main") {
			t.Errorf("moved %v: trouble %+v", moved, at)
		}
		gitOut(t, remote, "branch", "-m", "trunk", "main")
		a.sync(t)
		if s := a.Status(); s.Trouble.Kind != KindNone || s.Unpushed != 0 {
			t.Errorf("named main again: %+v", s)
		}
		gitOut(t, remote, "update-ref", "-d", "refs/heads/main") // with a branch that lacks what main had, main is gone and comes back
		a.sync(t)
		if got := len(messages(t, remote, "main")); got != 2 {
			t.Errorf("%d messages after main was removed", got)
		}
	}
}

// The main of a host was put back to an older commit, and main was renamed at the remote. Because the
// remote's last main was in no commit of that host, its push insisted on nothing and made main again.
func TestHostThatFellBackMakesNoMain(t *testing.T) {
	t.Parallel()
	t.Run("builtin", testHostThatFellBackMakesNoMain)
	testHostThatFellBackMakesNoMain(t)
}

func testHostThatFellBackMakesNoMain(t *testing.T) {
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	before := a.Tip()
	a.append(t, testMessage(1, 1))
	a.sync(t)
	gitOut(t, remote, "branch", "-m", "main", "trunk")
	a.close(t)
	gitOut(t, a.repo(), "update-ref", "refs/heads/main", before)
	if err := os.WriteFile(filepath.Join(a.repo(), tipName), []byte(before+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a.open(t)
	a.share.mu.Lock()
	err := a.share.pushUntilTaken(t.Context())
	a.share.mu.Unlock()
	if at := a.Status().Trouble.Kind; err == nil || at != KindRenamed || strings.Contains(gitOut(t, remote, "branch"), "main") {
		t.Errorf("trouble %q, %v; the remote has %s", at, err, gitOut(t, remote, "branch"))
	}
	gitOut(t, remote, "branch", "-m", "trunk", "main")
	a.share.mu.Lock()
	err = a.share.pushUntilTaken(t.Context())
	a.share.mu.Unlock()
	if s := a.Status(); err != nil || s.Tip != gitOut(t, remote, "rev-parse", "main") || a.Place(testMessage(1, 1).Path) != Pushed {
		t.Errorf("named main again: %v, %+v", err, s)
	}
}

package gitsync

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scanner makes a remote refuse each push with a commit in which the word "token" stands, and say
// it as a hosting service does: with much text around it, and a link at the end.
func scanner(t *testing.T, remote string) {
	t.Helper()
	hook := `#!/bin/sh
while read a b ref; do for c in $(git rev-list $b --not --all); do
 git show --format= $c | grep -q token && {
  echo "error: GH013: Repository rule violations found for $ref." >&2
  echo "- GITHUB PUSH PROTECTION" >&2
  echo "  - Push cannot contain secrets" >&2
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do printf '%0350d\n' 0$i >&2; done
  echo "  path: $(git grep -l token $c -- data | head -1 | cut -d: -f2-):3" >&2
  echo "  https://git.example.org/unblock/0000" >&2
  exit 1; }; done; done; exit 0
`
	if err := os.MkdirAll(filepath.Join(remote, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(remote, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
}

// It prevents that a home which somebody has removed comes back with what is withheld.
func TestWithholdInARemovedHome(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", bareRemote(t))
	gone := errors.New("the home is gone")
	h.Record.opts.Here = func() error { return gone }
	if _, err := h.Withhold(t.Context(), "upstream/CROSSTALK-VERSION"); !errors.Is(err, gone) {
		t.Errorf("Withhold: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(h.opts.Dir, setAsideName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was put aside: %v", err)
	}
}

// One message with a password stopped the sharing of the whole fleet, for ever: each later push had
// it in it, the advice was about another matter, and the link that the server gave was cut off.
func TestWithhold(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	a.append(t, testMessage(1, 1))
	a.sync(t)
	b.sync(t)
	scanner(t, remote)
	bad := testMessage(1, 2)
	bad.Data = append(bad.Data, "my token is 1234\n"...)
	a.append(t, bad, testMessage(1, 3))
	if err := a.Sync(t.Context()); err == nil {
		t.Fatal("the remote took it")
	}
	heard := bad
	heard.Peer = true
	b.append(t, heard, testMessage(2, 1))
	if err := b.Sync(t.Context()); err == nil {
		t.Fatal("the remote took it from the host that heard it")
	}
	at := a.Status().Trouble
	if at.Kind != KindContent || !strings.Contains(at.Text, "https://git.example.org/unblock/0000") || !strings.Contains(at.Text, "GH013") ||
		!strings.Contains(at.Advice, "parley record withhold "+bad.Path.String()) {
		t.Errorf("trouble %+v", at)
	}
	for _, h := range []*home{a, b} {
		if _, err := h.Withhold(t.Context(), bad.Path.RepoPath()); err != nil {
			t.Fatal(err)
		}
		h.sync(t)
		if s := h.Status(); s.Trouble.Kind != KindNone || s.Unpushed+s.Unrecorded != 0 || len(s.Withheld) != 1 || s.Withheld[0] != bad.Path {
			t.Errorf("after that: %+v", s)
		}
		if data, err := h.Get(bad.Path); err != nil || string(data) != string(bad.Data) || h.Place(bad.Path) != Stored {
			t.Errorf("its text is lost: %q, %v, %s", data, err, h.Place(bad.Path))
		}
	}
	a.sync(t)
	b.close(t)
	b.open(t) // and nothing of it comes back
	b.append(t, testMessage(2, 2))
	b.sync(t)
	for _, m := range []MessageFile{testMessage(1, 3), testMessage(2, 1), testMessage(2, 2)} {
		gitOut(t, remote, "cat-file", "-e", "main:"+m.Path.RepoPath())
	}
	if out := gitOut(t, remote, "log", "--format=%H", "-S", "my token", "main"); out != "" {
		t.Errorf("the remote has it in %s", out)
	}
	if _, err := a.Withhold(t.Context(), testMessage(1, 3).Path.RepoPath()); !errors.Is(err, ErrPushed) {
		t.Errorf("what is pushed cannot be withheld: %v", err)
	}
}

// A push was under way while its bad message was withheld, and was refused after that. Another host
// pushed the rest, so that this one never pushed again, and its trouble stayed for good.
func TestWithholdDuringAPush(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	a.sync(t)
	scanner(t, remote)
	bad := testMessage(1, 1)
	bad.Data = append(bad.Data, "my token is 1234\n"...)
	a.append(t, bad)
	refused := a.Sync(t.Context())
	if refused == nil {
		t.Fatal("the remote took it")
	}
	if _, err := a.Withhold(t.Context(), bad.Path.RepoPath()); err != nil {
		t.Fatal(err)
	}
	a.contact.pushed(refused)
	b.append(t, testMessage(2, 1))
	b.sync(t)
	if at := a.Status().Trouble; at.Kind != KindContent {
		t.Fatalf("before it has fetched: %+v", at)
	}
	a.sync(t)
	if at := a.Status().Trouble; at.Kind != KindNone {
		t.Errorf("all is pushed: %+v", at)
	}
}

// A file that is no message is kept in the home, and what the remote has of it stays.
func TestWithholdFile(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	file := "local/actors/a.md"
	if err := a.WriteFile(t.Context(), file, []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	a.sync(t)
	scanner(t, remote)
	if err := a.WriteFile(t.Context(), file, []byte("token\n")); err != nil {
		t.Fatal(err)
	}
	a.append(t, testMessage(1, 1))
	if err := a.Sync(t.Context()); err == nil {
		t.Fatal("the remote took it")
	}
	kept, err := a.Withhold(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	a.sync(t)
	if data, err := os.ReadFile(kept); err != nil || string(data) != "token\n" {
		t.Errorf("kept %q, %v", data, err)
	}
	if data, _, _ := a.ReadFile(file); string(data) != "one\n" || a.Place(testPath(1, 1)) != Pushed {
		t.Errorf("main has %q", data)
	}
	if _, err := a.Withhold(t.Context(), "nothing"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
}

package gitsync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

func TestAppendCommitRead(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	one, two := testMessage(1, 1), testMessage(1, 2)
	h.append(t, one, two, one)
	if got := h.Place(one.Path); got != Stored {
		t.Errorf("after Append the place is %s", got)
	}
	h.sync(t)
	h.append(t, one)
	for _, l := range []MessageFile{one, two} {
		data, err := h.Get(l.Path)
		if err != nil || string(data) != string(l.Data) {
			t.Errorf("Get(%s) = %q, %v", l.Path, data, err)
		}
		if got := h.Place(l.Path); got != Recorded {
			t.Errorf("after Sync the place is %s", got)
		}
	}
	wantSame(t, "messages in git", messages(t, h.repo(), "main"), paths(one, two))
	wantSame(t, "recorded", h.seen.get(&h.seen.recorded), paths(one, two))
	if got := h.Status(); got.Unrecorded != 0 || got.Unpushed != 0 {
		t.Errorf("status = %+v", got)
	}
	if _, err := h.Get(testPath(9, 9)); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of nothing: %v", err)
	}
	wantClean(t, h.repo())
}

func TestWalkAndFilesOf(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	one, two, three := testMessage(1, 1), testMessage(1, 2), testMessage(1, 3)
	h.append(t, two)
	h.append(t, one)
	h.sync(t)
	before := h.Tip()
	h.append(t, three)
	var walked []string
	err := h.Walk(t.Context(), func(l MessageFile) error {
		walked = append(walked, l.Path.String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "walked", walked, paths(one, two, three))
	h.sync(t)
	for _, c := range []struct {
		commit string
		path   protocol.Path
		want   bool
	}{{before, one.Path, true}, {before, three.Path, false}, {h.Tip(), three.Path, true}} {
		files, err := h.FilesOf(c.commit)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := files.Have(c.path); err != nil || got != c.want {
			t.Errorf("%.7s has %s: %v, %v", c.commit, c.path, got, err)
		}
	}
}

func TestPutFile(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	if err := h.PutFile("hosts/a.md", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := h.PutFile("hosts/a.md", []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	h.sync(t)
	data, ok, err := h.ReadFile("hosts/a.md")
	if err != nil || !ok || string(data) != "two\n" {
		t.Errorf("ReadFile = %q, %v, %v", data, ok, err)
	}
	files, err := h.ListFiles("hosts")
	if err != nil || !slices.Equal(files, []string{"hosts/a.md"}) {
		t.Errorf("ListFiles = %q, %v", files, err)
	}
	if got := gitOut(t, h.repo(), "log", "-1", "--format=%s"); got != "update hosts/a.md" {
		t.Errorf("the commit says %q", got)
	}
	for _, bad := range []string{"", "data/x", "data", "/x", "a/../b", "a//b", ".git/config", "x/.GIT/y", "a/"} {
		if err := h.PutFile(bad, nil); err == nil {
			t.Errorf("PutFile took %q", bad)
		}
	}
	if got := h.seen.get(&h.seen.files); len(got) > 0 {
		t.Errorf("our own files were told as changed by others: %q", got)
	}
}

// An update is made of what main has when the update is committed. It prevents: an update that was
// thought of before and loses what others did to the file, and messages that wait for an update
// that cannot be made.
func TestUpdateFileIsMadeOfWhatIsThere(t *testing.T) {
	t.Parallel()
	const file = "hosts/a.md"
	h := newHome(t, "a", "")
	with := func(line string) func([]byte) ([]byte, error) {
		return func(old []byte) ([]byte, error) { return append(old, line...), nil }
	}
	is := func(want string) {
		t.Helper()
		if data, _, err := h.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("%s has %q, %v; want %q", file, data, err, want)
		}
	}
	if err := h.ChangeFile(t.Context(), file, with("one\n")); err != nil {
		t.Fatal(err)
	}
	is("one\n")
	if err := h.UpdateFile(file, with("three\n")); err != nil {
		t.Fatal(err)
	}
	commitFilesByHand(t, h.repo(), map[string][]byte{file: []byte("one\ntwo\n")})
	h.sync(t)
	is("one\ntwo\nthree\n")
	cannot := errors.New("no")
	l := testMessage(1, 1)
	h.append(t, l)
	if err := h.ChangeFile(t.Context(), file, func([]byte) ([]byte, error) { return nil, cannot }); err != cannot {
		t.Errorf("the update that fails: %v", err)
	}
	is("one\ntwo\nthree\n")
	if at := h.Place(l.Path); at != Recorded {
		t.Errorf("the message is %v", at)
	}
}

func TestReopenKeepsWhatWasStored(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	id := h.ID()
	one, two := testMessage(1, 1), testMessage(1, 2)
	h.append(t, one)
	h.sync(t)
	h.append(t, two)
	h.close(t)
	if err := h.Append(t.Context(), []MessageFile{one}); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	h.open(t)
	if h.ID() != id || h.Place(one.Path) != Recorded || h.Place(two.Path) != Stored {
		t.Errorf("after reopening: %s, %s", h.Place(one.Path), h.Place(two.Path))
	}
	h.sync(t)
	wantSame(t, "messages in git", messages(t, h.repo(), "main"), paths(one, two))
}

func TestOpenTwice(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	_, err := Open(t.Context(), h.opts)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second Open: %v", err)
	}
	if _, err := Open(t.Context(), Options{Dir: t.TempDir(), Author: h.opts.Author}); !errors.Is(err, ErrNoRecord) {
		t.Errorf("Open of nothing: %v", err)
	}
}

func TestRunCommitsAndDrains(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	stop := h.run(t)
	one := testMessage(1, 1)
	h.append(t, one)
	eventually(t, "the message is recorded", func() bool { return len(h.seen.get(&h.seen.recorded)) == 1 })
	two := testMessage(1, 2)
	h.append(t, two)
	stop()
	if h.Place(two.Path) != Recorded {
		t.Error("Run ended without committing what was stored")
	}
}

func TestManyCommitsSealAndStayReadable(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	var all []MessageFile
	for n := range 150 {
		l := testMessage(1, n)
		all = append(all, l)
		h.append(t, l)
		h.sync(t)
	}
	wantSame(t, "messages in git", messages(t, h.repo(), "main"), paths(all...))
	wantClean(t, h.repo())
	gitOut(t, h.repo(), "gc", "--quiet", "--prune=now")
	for _, l := range all {
		if _, err := h.Get(l.Path); err != nil {
			t.Fatal(err)
		}
	}
	h.append(t, testMessage(1, 1000))
	h.sync(t)
	wantClean(t, h.repo())
}

func TestAppendHonoursItsContext(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one := testMessage(1, 1)
	if err := h.Append(ctx, []MessageFile{one}); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with an ended context: %v", err)
	}
	if h.Place(one.Path) != Absent {
		t.Error("a message was stored although Append failed")
	}
}

// It prevents: a check of the record that ends at the first object which the disk
// has lost, and says nothing of the others.
func TestWalkGoesOnAfterDamage(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	one, two, three := testMessage(1, 1), testMessage(1, 2), testMessage(1, 3)
	h.append(t, one, two, three)
	h.sync(t)
	damage(t, h.repo(), gitOut(t, h.repo(), "rev-parse", "main:"+two.Path.RepoPath()))
	var walked, lost []string
	err := h.WalkDamaged(t.Context(), func(l MessageFile) error {
		walked = append(walked, l.Path.String())
		return nil
	}, func(p protocol.Path, err error) error {
		lost = append(lost, p.String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "walked", walked, paths(one, three))
	wantSame(t, "lost", lost, paths(two))
	if err := h.Walk(t.Context(), func(MessageFile) error { return nil }); err == nil {
		t.Error("Walk takes a lost message for none")
	}
}

// damage changes bytes of an object in the pack that holds it.
func damage(t *testing.T, repo, hash string) {
	t.Helper()
	indexes, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.idx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range indexes {
		for line := range strings.Lines(gitOut(t, repo, "verify-pack", "--verbose", index)) {
			fields := strings.Fields(line)
			if len(fields) < 5 || fields[0] != hash {
				continue
			}
			at, err := strconv.Atoi(fields[4])
			pack := strings.TrimSuffix(index, "idx") + "pack"
			data, readErr := os.ReadFile(pack)
			if err := errors.Join(err, readErr, os.Chmod(pack, 0o600)); err != nil {
				t.Fatal(err)
			}
			copy(data[at+10:], "\xff\xff\xff\xff\xff\xff")
			if err := os.WriteFile(pack, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no pack holds %s", hash)
}

package gitsync

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

const flipMessages = 6

// flipHome makes a closed home with messages of several commits. They are packed as parley packs
// them or, with `repacked`, as the git program does, with deltas.
func flipHome(t *testing.T, remote string, repacked bool) *home {
	t.Helper()
	h := newHome(t, "a", remote)
	for n := range flipMessages {
		h.append(t, testMessage(1, n))
		h.sync(t)
	}
	h.close(t)
	if repacked {
		onePack(t, h)
	}
	return h
}

// copied returns a copy of a closed home, not yet open.
func copied(t *testing.T, h *home) *home {
	t.Helper()
	c := &home{opts: h.opts, log: &safeBuffer{}}
	c.opts.Dir = filepath.Join(t.TempDir(), "a")
	c.opts.Log = h.opts.Log.Output(c.log)
	if err := os.CopyFS(c.opts.Dir, os.DirFS(h.opts.Dir)); err != nil {
		t.Fatal(err)
	}
	return c
}

// flips names places in the files of a repository, one or more in each region. Each function flips
// a bit there.
func flips(t *testing.T, h *home) map[string]func(*testing.T, *home) {
	t.Helper()
	places := map[string]func(*testing.T, *home){}
	add := func(name, file string, at int) {
		places[name] = func(t *testing.T, c *home) { flip(t, filepath.Join(c.repo(), file), at) }
	}
	packs, err := filepath.Glob(filepath.Join(h.repo(), "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	slices.SortFunc(packs, func(a, b string) int { return int(size(t, b) - size(t, a)) })
	pack := strings.TrimPrefix(packs[0], h.repo())
	idx := strings.TrimSuffix(pack, ".pack") + ".idx"
	length := int(size(t, packs[0]))
	for name, at := range map[string]int{
		"magic": 0, "version": 7, "count": 11, "first header": 12, "first data": 20, "trailer": -3,
		"a third": length / 3, "half": length / 2, "two thirds": 2 * length / 3, "nine tenths": 9 * length / 10,
	} {
		add("pack "+name, pack, at)
	}
	count := int(size(t, strings.TrimSuffix(packs[0], ".pack")+".idx")-8-1024-40) / 28
	names := 8 + 1024
	for name, at := range map[string]int{
		"magic": 1, "version": 7, "fan-out": 8 + 4*128, "total": 8 + 1023, "first name": names, "middle name": names + count/2*20 + 3,
		"crc": names + 20*count + 5, "offset": names + 24*count + 4*(count/2) + 3, "high offset": names + 24*count, "pack sum": -30, "own sum": -3,
	} {
		add("idx "+name, idx, at)
	}
	if h.opts.Remote == "" {
		return places // refs are healed from the remote, or from the note of the tip
	}
	for name, file := range map[string]string{
		"main": carrier.MainRef, "remote ref": carrier.RemoteRef, "fetched ref": carrier.FetchedRef, "tip note": tipName, "id note": idName, "HEAD": "HEAD",
	} {
		if _, err := os.Stat(filepath.Join(h.repo(), file)); err == nil {
			add(name, file, 3)
			add(name+", its end", file, -1)
		}
	}
	return places
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// readAll wants every message with its own bytes, and returns an error of the record if there is
// one. A message with other bytes is the one thing that must never be.
func readAll(t *testing.T, h *home) error {
	t.Helper()
	seen := map[string]bool{}
	var failed error
	var all []MessageFile
	for n := range flipMessages {
		l := testMessage(1, n)
		all = append(all, l)
		data, err := h.Get(l.Path)
		switch {
		case err != nil:
			failed = err
		case string(data) != string(l.Data):
			t.Errorf("message %d was served as %q", n, data)
		default:
			seen[l.Path.String()] = true
		}
	}
	err := h.Walk(context.Background(), func(l MessageFile) error {
		if !slices.ContainsFunc(all, func(want MessageFile) bool { return want.Path == l.Path && string(want.Data) == string(l.Data) }) {
			t.Errorf("%s was served as %q", l.Path, l.Data)
		}
		return nil
	})
	if failed == nil {
		failed = err
	}
	if failed == nil && len(seen) != flipMessages {
		return fmt.Errorf("%d messages of %d", len(seen), flipMessages)
	}
	return failed
}

// TestFlippedBit prevents that a bit which a disk turned over makes a message another one, or makes
// a record unusable that has a remote.
func TestFlippedBit(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	for _, repacked := range []bool{false, true} {
		for _, shared := range []bool{true, false} {
			t.Run(fmt.Sprintf("repacked=%v/shared=%v", repacked, shared), func(t *testing.T) {
				if repacked != shared { // each of the two is tried in the other two cases as well
					scratch.Long(t)
				}
				remote := ""
				if shared {
					remote = bareRemote(t)
				}
				h := flipHome(t, remote, repacked)
				for name, damage := range flips(t, h) {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						c := copied(t, h)
						damage(t, c)
						wantMended(t, c, shared)
					})
				}
			})
		}
	}
}

// wantMended opens a damaged home. With a remote, all must be well again. Without a remote, all is
// well again or an error says what is damaged.
func wantMended(t *testing.T, c *home, shared bool) {
	t.Helper()
	c.seen = &seen{}
	r, err := Open(t.Context(), c.opts)
	if err != nil {
		if shared {
			t.Fatalf("%v\n%s", err, c.log)
		}
		t.Logf("says: %v", err)
		wantSaid(t, err.Error())
		return
	}
	c.Record = r
	defer c.close(t)
	if err := readAll(t, c); err != nil {
		if shared {
			t.Fatalf("%v\n%s", err, c.log)
		}
		t.Logf("says: %v", err)
		if lost := c.Lost(); len(lost) == 0 { // else it was said at the start
			wantSaid(t, err.Error())
		}
		return
	}
	found, err := c.Check(t.Context(), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		if !d.Mended && shared {
			t.Errorf("not mended: %+v", d)
		}
	}
	if !shared && slices.ContainsFunc(found, func(d Damage) bool { return !d.Mended }) {
		return // only history that nobody reads is damaged, and Check says so
	}
	c.append(t, testMessage(1, flipMessages))
	c.sync(t)
	gitOut(t, c.repo(), "fsck", "--strict", "--no-dangling")
	if got := len(messages(t, c.repo(), "main")); got != flipMessages+1 {
		t.Errorf("%d messages, want %d\n%s", got, flipMessages+1, c.log)
	}
	if found, err := c.Check(t.Context(), func(int) {}); err != nil || len(found) > 0 {
		t.Errorf("a second check finds %+v, %v", found, err)
	}
}

// wantSaid wants the text to name what is damaged.
func wantSaid(t *testing.T, text string) {
	t.Helper()
	for _, sign := range []string{"corrupt pack", "cannot read ref", "not in the repository"} {
		if strings.Contains(text, sign) {
			return
		}
	}
	t.Errorf("it does not say what is damaged: %s", text)
}

// It prevents: a message that is in the journal alone and comes back with other bytes, or takes
// other messages with it.
func TestFlippedBitInTheJournal(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	for n := range flipMessages {
		h.append(t, testMessage(1, n))
	}
	segments, err := filepath.Glob(filepath.Join(h.opts.Dir, journalName, "*.log"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	name := filepath.Base(segments[0])
	length := int(size(t, segments[0]))
	whole := copied(t, h) // as a crash would leave it
	h.close(t)
	for at := 0; at < length; at += 7 {
		c := copied(t, whole)
		flip(t, filepath.Join(c.opts.Dir, journalName, name), at)
		c.open(t)
		lost := 0
		for n := range flipMessages {
			l := testMessage(1, n)
			data, err := c.Get(l.Path)
			if err != nil {
				lost++
			} else if string(data) != string(l.Data) {
				t.Errorf("byte %d: message %d came back as %q", at, n, data)
			}
		}
		if lost > 1 {
			t.Errorf("byte %d: %d messages are lost", at, lost)
		}
		if lost > 0 && !strings.Contains(c.log.String(), "journal: ") {
			t.Errorf("byte %d: nothing was said", at)
		}
		c.sync(t)
		c.close(t)
	}
}

// It prevents: an index that names the place of another object, so that this other object is
// served.
func TestReadChecksTheName(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	h.append(t, testMessage(1, 1), testMessage(1, 2))
	h.sync(t)
	h.close(t)
	base := onePack(t, h)
	idx, err := os.ReadFile(base + ".idx")
	if err != nil {
		t.Fatal(err)
	}
	count := (len(idx) - 8 - 1024 - 40) / 28
	first := 8 + 1024 + 24*count
	for i := range 4 { // two objects change places
		idx[first+i], idx[first+4+i] = idx[first+4+i], idx[first+i]
	}
	if err := os.WriteFile(base+".idx", idx, 0o644); err != nil {
		t.Fatal(err)
	}
	swapped, err := objects.Open(h.repo(), h.opts.Log)
	if err != nil {
		t.Fatal(err)
	}
	names := []objects.Hash{objects.Hash(idx[8+1024 : 8+1024+20]), objects.Hash(idx[8+1024+20 : 8+1024+40])}
	for _, name := range names {
		if _, _, err := swapped.Read(name); err == nil {
			t.Errorf("object %s was served from another's place", name)
		}
	}
	h.open(t) // puts it right
	for _, name := range names {
		if _, _, err := h.store.Read(name); err != nil {
			t.Errorf("the mended index: %v", err)
		}
	}
}

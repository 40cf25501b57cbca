package gitsync

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// found is one thing that a crash, a killed program or a failing disk leaves in a home: what makes
// it, and a part of what the log says of it. The part is "" if there is nothing to say.
type found struct {
	makes func(t *testing.T, h *home)
	says  string
	gone  []string // paths below record.git that are gone after the start
}

func age(t *testing.T, by time.Duration, paths ...string) {
	t.Helper()
	for _, path := range paths {
		old := time.Now().Add(-by)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// leaves returns a function that makes files below record.git. They are older than any program
// needs them.
func leaves(names ...string) func(*testing.T, *home) {
	return func(t *testing.T, h *home) {
		for _, name := range names {
			path := filepath.Join(h.repo(), filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, "half")
			first, _, _ := strings.Cut(strings.TrimPrefix(name, "objects/"), "/")
			age(t, 2*time.Hour, path)
			if strings.HasPrefix(first, "tmp_objdir") {
				age(t, 2*time.Hour, filepath.Join(h.repo(), "objects", first))
			}
		}
	}
}

// onePack gathers all objects in one pack of the git program. It returns the path of the pack
// without its ending.
func onePack(t *testing.T, h *home) string {
	t.Helper()
	gitOut(t, h.repo(), "repack", "-adq")
	packs, err := filepath.Glob(filepath.Join(h.repo(), "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	base := strings.TrimSuffix(packs[0], ".pack")
	for _, ending := range []string{".pack", ".idx"} { // git makes them read-only
		if err := os.Chmod(base+ending, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	age(t, time.Minute, base+".pack")
	return base
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(data)+text)
}

func flip(t *testing.T, path string, at int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 4
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func foundAtStart() map[string]found {
	lock := func(name string) found {
		return found{leaves(name), "removed the stale lock", []string{name}}
	}
	temp := func(name string) found {
		return found{leaves(name), "removed the unfinished file", []string{name}}
	}
	return map[string]found{
		"lock of main":           lock("refs/heads/main.lock"),
		"lock of the remote":     lock("refs/remotes/origin/main.lock"),
		"lock of what came":      lock("refs/parley/fetched.lock"),
		"lock of another branch": lock("refs/heads/draft.lock"),
		"HEAD.lock":              lock("HEAD.lock"),
		"packed-refs.lock":       lock("packed-refs.lock"),
		"config.lock":            lock("config.lock"),
		"shallow.lock":           lock("shallow.lock"),
		"commit graph's lock":    lock("objects/info/commit-graphs/commit-graph-chain.lock"),
		"our temporary pack":     temp("objects/pack/tmp_parley_123"),
		"our temporary file":     temp("tmp_parley_123"),
		"our temporary object":   temp("objects/ab/tmp_parley_123"),
		"git's temporary pack":   temp("objects/pack/tmp_pack_x1"),
		"git's temporary idx":    temp("objects/pack/tmp_idx_x1"),
		"git's temporary object": temp("objects/ab/tmp_obj_x1"),
		"a repack cut short":     temp("objects/pack/.tmp-77-pack-1234.pack"),
		"a push cut short": {leaves("objects/tmp_objdir-incoming-x1/pack/tmp_pack_1"), "",
			[]string{"objects/tmp_objdir-incoming-x1/pack/tmp_pack_1"}},
		"a torn pack": {leaves("objects/pack/pack-1234567890123456789012345678901234567890.pack"), "set the torn pack",
			[]string{"objects/pack/pack-1234567890123456789012345678901234567890.pack"}},
		"a .keep without a pack": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), "objects", "pack", "pack-1234567890123456789012345678901234567890.keep"),
				"parley: the rolling pack, see gitsync/objects\n")
		}, "", []string{"objects/pack/pack-1234567890123456789012345678901234567890.keep"}},
		"a .keep of a fetch that was killed": {func(t *testing.T, h *home) {
			keep := onePack(t, h) + ".keep"
			writeFile(t, keep, "fetch-pack 77 on here\n")
			age(t, 2*time.Hour, keep)
		}, "removed the forgotten", nil},
		"an index over packs that are gone": {func(t *testing.T, h *home) {
			gitOut(t, h.repo(), "multi-pack-index", "write")
			old, err := os.ReadFile(filepath.Join(h.repo(), "objects", "pack", "multi-pack-index"))
			if err != nil {
				t.Fatal(err)
			}
			onePack(t, h)
			writeFile(t, filepath.Join(h.repo(), "objects", "pack", "multi-pack-index"), string(old))
		}, "removed the index over many packs", []string{"objects/pack/multi-pack-index"}},
		"an idx without a pack": {leaves("objects/pack/pack-1234567890123456789012345678901234567890.idx"), "removed the",
			[]string{"objects/pack/pack-1234567890123456789012345678901234567890.idx"}},
		"a pack without an idx": {func(t *testing.T, h *home) {
			if err := os.Remove(onePack(t, h) + ".idx"); err != nil {
				t.Fatal(err)
			}
		}, "wrote the missing index", nil},
		"an empty idx": {func(t *testing.T, h *home) { writeFile(t, onePack(t, h)+".idx", "") }, "wrote the missing index", nil},
		"an idx cut short": {func(t *testing.T, h *home) {
			base := onePack(t, h)
			data, err := os.ReadFile(base + ".idx")
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, base+".idx", string(data[:len(data)/2]))
		}, "wrote the missing index", nil},
		"a loose object without content": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), "objects", "f7", "0f10e4db19068f79bc43844b49f3eece45c4e8"), "")
		}, "loose objects without content", []string{"objects/f7/0f10e4db19068f79bc43844b49f3eece45c4e8"}},
		"main empty": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), filepath.FromSlash(carrier.MainRef)), "")
		}, "main was broken", nil},
		"main and its note empty": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), filepath.FromSlash(carrier.MainRef)), "")
			writeFile(t, filepath.Join(h.repo(), tipName), "")
		}, "main was broken", nil},
		"the remote's ref empty": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), filepath.FromSlash(carrier.RemoteRef)), "")
		}, "removed the empty ref", nil},
		"a tag empty": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), "refs", "tags", "mine"), "")
		}, "removed the empty ref refs/tags/mine", []string{"refs/tags/mine"}},
		"HEAD empty":   {func(t *testing.T, h *home) { writeFile(t, filepath.Join(h.repo(), "HEAD"), "") }, "it names main again", nil},
		"HEAD damaged": {func(t *testing.T, h *home) { flip(t, filepath.Join(h.repo(), "HEAD"), 2) }, "it names main again", nil},
		"config damaged": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), "config"), "\x00\x80garbage [\n")
		}, "config.damaged has it", nil},
		"config of another kind": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), "config"), "[core]\n\tbare = trte\n")
		}, "config.damaged has it", nil},
		"a line of packed-refs": {func(t *testing.T, h *home) {
			gitOut(t, h.repo(), "pack-refs", "--all")
			appendTo(t, filepath.Join(h.repo(), "packed-refs"), "\x00\x00\x00\x00")
		}, "left out 1 lines of packed-refs", nil},
		"packed-refs names what is not there": {func(t *testing.T, h *home) {
			gitOut(t, h.repo(), "pack-refs", "--all")
			path := filepath.Join(h.repo(), "packed-refs")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, string(bytes.ReplaceAll(data, []byte(h.Tip()), []byte(strings.Repeat("1", 40)))))
		}, "main was broken", nil},
		"no note of the record's name": {func(t *testing.T, h *home) {
			if err := os.Remove(filepath.Join(h.repo(), idName)); err != nil {
				t.Fatal(err)
			}
		}, "", nil},
		"another record's name": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.repo(), idName), strings.Repeat("1", 40)+"\n")
		}, "which record this is", nil},
		"no note of main's tip": {func(t *testing.T, h *home) {
			if err := os.Remove(filepath.Join(h.repo(), tipName)); err != nil {
				t.Fatal(err)
			}
		}, "", nil},
		"a segment of the journal without content": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.opts.Dir, journalName, "00000000000000ff.log"), "")
		}, "", nil},
		"a torn segment of the journal": {func(t *testing.T, h *home) {
			writeFile(t, filepath.Join(h.opts.Dir, journalName, "00000000000000ff.log"), strings.Repeat("\x00", 4096))
		}, "set aside", nil},
		"no journal": {func(t *testing.T, h *home) {
			if err := os.RemoveAll(filepath.Join(h.opts.Dir, journalName)); err != nil {
				t.Fatal(err)
			}
		}, "", nil},
	}
}

// TestFoundAtStart prevents that a home does not start, or not without a person, after what killed
// programs and failing disks leave behind.
func TestFoundAtStart(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	whole := newHome(t, "a", bareRemote(t))
	whole.append(t, testMessage(1, 1))
	whole.sync(t)
	whole.append(t, testMessage(1, 2))
	whole.sync(t)
	id := whole.ID()
	whole.close(t)
	for name, f := range foundAtStart() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := movedTo(t, whole, copiedRemote(t, whole.opts.Remote))
			h.close(t)
			f.makes(t, h)
			h.open(t)
			if f.says != "" && !strings.Contains(h.log.String(), f.says) {
				t.Errorf("the log does not say %q:\n%s", f.says, h.log)
			}
			for _, name := range f.gone {
				if _, err := os.Lstat(filepath.Join(h.repo(), filepath.FromSlash(name))); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is still there: %v", name, err)
				}
			}
			if h.ID() != id {
				t.Errorf("the record was %s and is %s", id, h.ID())
			}
			h.append(t, testMessage(1, 3))
			h.sync(t)
			want := paths(testMessage(1, 1), testMessage(1, 2), testMessage(1, 3))
			for _, repo := range []string{h.repo(), h.opts.Remote} {
				wantSame(t, "messages", messages(t, repo, "main"), want)
			}
			wantClean(t, h.repo())
		})
	}
}

// It prevents that a lock which another program holds at this moment is taken from it.
func TestYoungLocksStay(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	h.close(t)
	lock := filepath.Join(h.repo(), "packed-refs.lock")
	writeFile(t, lock, "")
	h.open(t)
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("the lock was removed: %v", err)
	}
}

// leftovers returns the unfinished files and locks below a repository.
func leftovers(t *testing.T, repo string) []string {
	t.Helper()
	var left []string
	err := filepath.WalkDir(repo, func(path string, d os.DirEntry, err error) error {
		name := d.Name()
		if strings.HasPrefix(name, "tmp_") || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".keep") || name == "parley-pushing" {
			left = append(left, strings.TrimPrefix(path, repo))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// A killed program may leave locks while the node runs. It prevents: a node that neither fetches
// nor commits until a person removes them.
func TestLocksLeftWhileItRuns(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	for _, ref := range []string{carrier.FetchedRef, carrier.MainRef} {
		lock := filepath.Join(b.repo(), filepath.FromSlash(ref)+".lock")
		if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, lock, "")
		age(t, 2*time.Minute, lock)
		l := testMessage(1, len(ref))
		a.append(t, l)
		a.sync(t)
		if err := b.Sync(t.Context()); err != nil {
			b.sync(t) // the second time at the latest
		}
		if b.Place(l.Path) != Pushed {
			t.Errorf("with a lock of %s the message is %s", ref, b.Place(l.Path))
		}
		if _, err := os.Stat(lock); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the lock of %s stays: %v", ref, err)
		}
	}
}

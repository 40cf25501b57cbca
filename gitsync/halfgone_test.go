package gitsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// halves returns what somebody may do to the files of a record, by name. The files are those in
// objects/pack, and others.
func halves() map[string]func(t *testing.T, repo string) {
	each := func(pattern string, do func(path string) error) func(*testing.T, string) {
		return func(t *testing.T, repo string) {
			t.Helper()
			paths, err := filepath.Glob(filepath.Join(repo, filepath.FromSlash(pattern)))
			if err != nil || len(paths) == 0 {
				t.Fatal(pattern, paths, err)
			}
			for _, path := range paths {
				if err := do(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	half := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, info.Size()/2)
	}
	first := func(do func(string) error) func(string) error { // the first pack: all others stay
		done := false
		return func(path string) error {
			if done {
				return nil
			}
			done = true
			return do(path)
		}
	}
	return map[string]func(*testing.T, string){
		"all packs removed":      each("objects/pack/*", os.Remove),
		"one pack removed":       each("objects/pack/*.pack", first(os.Remove)),
		"all packs cut to half":  each("objects/pack/*.pack", half),
		"all packs empty":        each("objects/pack/*.pack", func(path string) error { return os.Truncate(path, 0) }),
		"all indexes removed":    each("objects/pack/*.idx", os.Remove),
		"all indexes cut":        each("objects/pack/*.idx", half),
		"refs removed":           each("refs", os.RemoveAll),
		"objects removed":        each("objects", os.RemoveAll),
		"all files removed":      each("*", os.RemoveAll),
		"the repository removed": func(t *testing.T, repo string) { remove(t, repo) },
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// severalPacks opens a home with messages 0 to 9 in two sealed packs and a rolling one.
func severalPacks(t *testing.T, remote string) *home {
	t.Helper()
	h := newHome(t, "a", remote)
	for n := range 10 {
		h.append(t, testMessage(1, n))
		h.sync(t)
		if n == 3 || n == 6 {
			h.close(t)
			h.open(t)
		}
	}
	return h
}

// movedTo opens a copy of a closed home. The copy's remote is `remote`, a copy of that home's
// remote.
func movedTo(t *testing.T, h *home, remote string) *home {
	t.Helper()
	c := copied(t, h)
	c.opts.Remote = remote
	if err := carrier.SetRemote(c.repo(), remote); err != nil {
		t.Fatal(err)
	}
	c.open(t)
	t.Cleanup(func() { c.close(t) })
	return c
}

// copiedRemote returns a copy of a remote.
func copiedRemote(t *testing.T, remote string) string {
	t.Helper()
	c := filepath.Join(t.TempDir(), "remote.git")
	if err := os.CopyFS(c, os.DirFS(remote)); err != nil {
		t.Fatal(err)
	}
	return c
}

// wantMessages wants messages `from` to `to`-1 to be readable from what is on the disk now.
func wantMessages(t *testing.T, h *home, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		l := testMessage(1, n)
		if data, err := h.Get(l.Path); err != nil || string(data) != string(l.Data) {
			t.Errorf("message %d: %q, %v", n, data, err)
		}
	}
}

// TestHalfARecord prevents three failures of a node without a remote whose record loses its files
// underneath. The node says recorded, lets go of its journal, and cannot start again.
func TestHalfARecord(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	for name, breaks := range halves() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := severalPacks(t, "")
			breaks(t, h.repo())
			for n := 10; n < 14; n++ {
				h.append(t, testMessage(1, n))
				if err := h.Sync(t.Context()); err != nil && h.Status().Broken == "" {
					t.Errorf("message %d cannot be recorded (%v), and the record is not said to be broken", n, err)
				}
			}
			c := copied(t, h) // as a kill would leave it
			h.close(t)
			c.open(t)
			defer c.close(t)
			wantMessages(t, c, 10, 14)
			wantTold(t, c)
			c.append(t, testMessage(1, 14))
			c.sync(t)
			wantMessages(t, c, 14, 15)
			if c.Place(testMessage(1, 14).Path) != Recorded {
				t.Errorf("the next message is %s", c.Place(testMessage(1, 14).Path))
			}
			if c.ID() != h.ID() {
				t.Errorf("the record was %s and is %s", h.ID(), c.ID())
			}
			if len(c.Lost()) == 0 {
				wantClean(t, c.repo())
			}
		})
	}
}

// wantTold wants each message that cannot be read to be named as lost: the message itself, or a
// folder above it.
func wantTold(t *testing.T, h *home) {
	t.Helper()
	lost := h.Lost()
	for n := range 10 {
		path := testMessage(1, n).Path
		_, err := h.Get(path)
		told := slices.ContainsFunc(lost, func(l string) bool {
			return l == path.RepoPath() || strings.HasSuffix(l, "/") && strings.HasPrefix("/"+path.RepoPath(), "/"+strings.Trim(l, "/"))
		})
		if (err != nil) && !told {
			t.Errorf("message %d is lost (%v), and not named among %q", n, err, lost)
		}
	}
}

// What a commit stands on may go between the last look and the commit. It prevents that the
// commit's messages leave the journal.
func TestJournalKeepsWhatStandsOnNothing(t *testing.T) {
	t.Parallel()
	h := severalPacks(t, "")
	var damaged []string
	h.opts.Events.Damaged = func(why string) { damaged = append(damaged, why) }
	h.tell.events.Damaged = h.opts.Events.Damaged
	halves()["all packs removed"](t, h.repo())
	h.append(t, testMessage(1, 10))
	if err := h.Sync(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Fatalf("Sync: %v", err)
	}
	if s := h.Status(); s.Broken == "" || s.Unrecorded != 1 {
		t.Errorf("status says %q, %d unrecorded", s.Broken, s.Unrecorded)
	}
	if len(damaged) != 1 || damaged[0] == "" {
		t.Errorf("told %q", damaged)
	}
	entries, err := os.ReadDir(filepath.Join(h.opts.Dir, journalName))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".log") }) {
		t.Error("the journal is empty")
	}
}

// It prevents: a node that waits for a restart although somebody has put the files of
// its record back.
func TestFilesThatComeBack(t *testing.T) {
	t.Parallel()
	h := severalPacks(t, "")
	objects := filepath.Join(h.repo(), "objects")
	if err := os.Rename(objects, objects+".away"); err != nil {
		t.Fatal(err)
	}
	h.append(t, testMessage(1, 10))
	if err := h.Sync(t.Context()); err == nil {
		t.Fatal("it was recorded without any object")
	}
	remove(t, objects)
	if err := os.Rename(objects+".away", objects); err != nil {
		t.Fatal(err)
	}
	h.disk.looked = h.disk.looked.Add(-lookApart - lookRest*h.disk.took)
	h.sync(t)
	if h.Status().Broken != "" || h.Place(testMessage(1, 10).Path) != Recorded || len(h.Lost()) > 0 {
		t.Errorf("broken %q, the message is %s, lost %q", h.Status().Broken, h.Place(testMessage(1, 10).Path), h.Lost())
	}
	wantMessages(t, h, 0, 11)
	wantClean(t, h.repo())
}

// A backup has the packs that were lost. It prevents that the backup is not taken in, or that
// agents wait for ever for what is there again.
func TestABackupOfPacksBringsMainBack(t *testing.T) {
	t.Parallel()
	h := severalPacks(t, "")
	h.close(t)
	backup := t.TempDir()
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(h.repo(), "objects", "pack"))); err != nil {
		t.Fatal(err)
	}
	halves()["all packs removed"](t, h.repo())
	h.open(t)
	if len(h.Lost()) == 0 {
		t.Fatal("nothing is said to be lost")
	}
	h.append(t, testMessage(1, 10))
	h.sync(t)
	h.close(t)
	files, err := os.ReadDir(backup)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(backup, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(h.repo(), "objects", "pack", f.Name()), string(data))
	}
	h.open(t)
	h.sync(t)
	wantMessages(t, h, 0, 11)
	if got := len(messages(t, h.repo(), "main")); got != 11 {
		t.Errorf("main has %d messages, want 11", got)
	}
	if lost := h.Lost(); len(lost) > 0 {
		t.Errorf("still lost: %q", lost)
	}
	wantClean(t, h.repo())
}

// A record has lost its files, and everything is on the remote or in the journal.
// TestHalfARecordWithARemote prevents that the node stays cut off from its remote, or loses what
// was only in its journal.
func TestHalfARecordWithARemote(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	whole := bareRemote(t)
	a, b := severalPacks(t, whole), newHome(t, "b", whole)
	a.close(t)
	b.close(t)
	for _, running := range []bool{true, false} {
		for name, breaks := range halves() {
			t.Run(fmt.Sprintf("running=%v/%s", running, name), func(t *testing.T) {
				t.Parallel()
				remote := copiedRemote(t, whole)
				h, other := movedTo(t, a, remote), movedTo(t, b, remote)
				if err := os.Rename(remote, remote+".away"); err != nil {
					t.Fatal(err)
				}
				for n := 10; n < 13; n++ { // only here
					h.append(t, testMessage(1, n))
					if err := h.main.commit(t.Context(), true); err != nil {
						t.Fatal(err)
					}
				}
				breaks(t, h.repo())
				h.append(t, testMessage(1, 13))
				_ = h.main.commit(t.Context(), true)
				if err := os.Rename(remote+".away", remote); err != nil {
					t.Fatal(err)
				}
				other.append(t, testMessage(2, 1))
				other.sync(t)
				c := h
				if !running {
					c = copied(t, h) // as a kill would leave it
					h.close(t)
					if _, err := os.Stat(c.repo()); err != nil {
						t.Skip("the node fetches a record that is gone")
					}
					if names, err := os.ReadDir(c.repo()); err != nil || len(names) == 0 {
						t.Skip("the node fetches a record that is gone")
					}
					c.open(t)
					defer c.close(t)
				}
				if err := c.Sync(t.Context()); err != nil {
					c.sync(t) // the second time at the latest
				}
				c.sync(t)
				wantMessages(t, c, 0, 14)
				if lost := c.Lost(); len(lost) > 0 || c.Status().Broken != "" {
					t.Errorf("lost %q, broken %q\n%s", lost, c.Status().Broken, c.log)
				}
				if got := len(messages(t, remote, "main")); got != 15 {
					t.Errorf("the remote has %d messages, want 15\n%s", got, c.log)
				}
				wantClean(t, c.repo())
				wantClean(t, remote)
			})
		}
	}
}

// It prevents that loose objects which are removed under a running node go unnoticed.
func TestLooseObjectsThatGo(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	h.append(t, testMessage(1, 1))
	h.sync(t)
	h.close(t)
	base := onePack(t, h)
	pack, err := os.ReadFile(base + ".pack")
	if err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{".pack", ".idx"} {
		if err := os.Remove(base + ending); err != nil {
			t.Fatal(err)
		}
	}
	gitInput(t, h.repo(), string(pack), "unpack-objects", "-q")
	h.open(t)
	blob := gitOut(t, h.repo(), "rev-parse", "main:"+testMessage(1, 1).Path.RepoPath())
	if err := os.Remove(filepath.Join(h.repo(), "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	h.append(t, testMessage(1, 2))
	if err := h.Sync(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("Sync: %v", err)
	}
	if err := h.NameLost([]protocol.Path{testMessage(1, 1).Path}); err != nil {
		t.Error(err)
	}
	wantSame(t, "lost", h.Lost(), []string{testMessage(1, 1).Path.RepoPath()})
}

// lostWhileAway opens a record that has lost all its packs while its remote could not be reached.
// `back` brings the remote back.
func lostWhileAway(t *testing.T) (h *home, back func()) {
	t.Helper()
	remote := bareRemote(t)
	h = severalPacks(t, remote)
	h.close(t)
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	rename(remote, remote+".away")
	halves()["all packs removed"](t, h.repo())
	h.open(t)
	return h, func() { t.Helper(); rename(remote+".away", remote) }
}

// Messages were lost while the remote could not be reached. It prevents that they count as back
// before what the remote has is in main. Agents would then answer once more what they have
// answered.
func TestLossLastsUntilTheRemoteIsTakenIn(t *testing.T) {
	t.Parallel()
	h, back := lostWhileAway(t)
	if len(h.Lost()) == 0 {
		t.Fatal("nothing is said to be lost")
	}
	back()
	arrived, atTheEnd := 0, -1
	h.tell.events = Events{
		Arrived: func(messages []MessageFile) { arrived += len(messages) },
		Damaged: func(why string) {
			if why == "" {
				atTheEnd = arrived
			}
		},
	}
	h.sync(t)
	wantMessages(t, h, 0, 10)
	if lost := h.Lost(); len(lost) > 0 || atTheEnd != 10 {
		t.Errorf("lost %q; it was over when %d of 10 messages had arrived", lost, atTheEnd)
	}
}

// It prevents that a host whose record was put together anew removes messages and files from the
// remote: those that others have pushed since the host looked last.
func TestWhatIsPutTogetherRemovesNothing(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprintf("running=%v", running), func(t *testing.T) {
			remote := bareRemote(t)
			h := severalPacks(t, remote)
			other := newHome(t, "b", remote)
			theirs := testMessage(2, 1)
			other.append(t, theirs)
			if err := other.PutFile("hosts/b.md", []byte("of b\n")); err != nil {
				t.Fatal(err)
			}
			other.sync(t)

			before := packsOf(t, h)
			elsewhere := MessageFile{Path: protocol.NewPath("7d2f1c0a-3b1e-4c55-9a53-0f6f3f0f8a11", testPath(1, 10).Time(), 10), Data: []byte("---\nfrom: w1\n---\n\nelsewhere\n")}
			h.append(t, elsewhere)
			if err := h.main.commit(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			h.close(t)
			h.open(t)
			lost := slices.DeleteFunc(packsOf(t, h), func(p string) bool { return slices.Contains(before, p) })
			h.append(t, testMessage(1, 11))
			if err := h.main.commit(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			if !running {
				h.close(t)
			}
			for _, p := range lost { // the newest list of the other channel's messages
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
			if running {
				h.append(t, testMessage(1, 12))
				if err := h.main.commit(t.Context(), true); !errors.Is(err, ErrDamaged) {
					t.Fatalf("commit: %v", err)
				}
			} else {
				h.open(t)
			}
			h.sync(t)
			h.sync(t)
			for _, l := range []MessageFile{theirs, elsewhere, testMessage(1, 11)} {
				if !slices.Contains(messages(t, remote, "main"), l.Path.String()) {
					t.Errorf("the remote does not have %s\n%s", l.Path, h.log)
				}
				if data, err := h.Get(l.Path); err != nil || string(data) != string(l.Data) {
					t.Errorf("it reads %q, %v", data, err)
				}
			}
			if got := gitOut(t, remote, "show", "main:hosts/b.md"); got != "of b" {
				t.Errorf("hosts/b.md says %q", got)
			}
			if lost := h.Lost(); len(lost) > 0 {
				t.Errorf("lost %q", lost)
			}
		})
	}
}

// It prevents that a host fetches all of the remote once a minute, for ever, because even the
// remote does not have something. The remote may be large.
func TestWhatTheRemoteLacksIsNotAskedForAllTheTime(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", bareRemote(t))
	h.append(t, testMessage(1, 1))
	h.sync(t)
	if err := h.NoteLost([]string{testMessage(1, 2).Path.RepoPath()}); err != nil {
		t.Fatal(err)
	}
	refills := func() bool {
		h.share.refiller.at, h.share.refiller.took = time.Now().Add(-2*refillApart), refillApart
		before := h.share.refiller.at
		h.sync(t)
		return h.share.refiller.at != before
	}
	if refills() {
		t.Error("everything was fetched anew")
	}
	h.disk.noteBroken("a pack is gone")
	if !refills() {
		t.Error("what is newly lost waits for the end of that pause")
	}
}

// A kill may come after main is put together, and before that is noted. It prevents that the next
// start takes what is left for all that there was.
func TestLossIsNotedBeforeMainMoves(t *testing.T) {
	t.Parallel()
	h := severalPacks(t, "")
	main := gitOut(t, h.repo(), "rev-parse", "main")
	halves()["all packs removed"](t, h.repo())
	if err := h.store.Rescan(); err != nil {
		t.Fatal(err)
	}
	if err := firstPackOf(h.opts.Dir).bring(h.store); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.salvor.salvage(t.Context(), plumbing.NewHash(main)); err != nil {
		t.Fatal(err)
	}
	c := copied(t, h)
	c.open(t)
	defer c.close(t)
	wantTold(t, c)
	if len(c.Lost()) == 0 {
		t.Error("nothing is said to be lost")
	}
}

// It prevents that a record does not open because a loose object is gone that it needs at once. No
// list of packs shows such an object.
func TestALooseObjectThatIsNeededAtOnce(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"main:upstream", "main~11", "main~11:upstream"} {
		t.Run(what, func(t *testing.T) {
			h := severalPacks(t, "")
			h.close(t)
			pack, err := os.ReadFile(onePack(t, h) + ".pack")
			if err != nil {
				t.Fatal(err)
			}
			halves()["all packs removed"](t, h.repo())
			gitInput(t, h.repo(), string(pack), "unpack-objects", "-q")
			h.open(t)
			h.append(t, testMessage(1, 10))
			h.sync(t)
			h.close(t) // one pack is noted
			object := gitOut(t, h.repo(), "rev-parse", what)
			remove(t, filepath.Join(h.repo(), "objects", object[:2], object[2:]))
			h.open(t)
			wantTold(t, h)
			h.append(t, testMessage(1, 11))
			h.sync(t)
			wantMessages(t, h, 0, 12)
		})
	}
}

// A power cut may take a pack together with the list of packs. It prevents that this pack is not
// missed.
func TestAnEmptyListOfPacksSaysNothing(t *testing.T) {
	t.Parallel()
	h := severalPacks(t, "")
	blob := gitOut(t, h.repo(), "rev-parse", "main:"+testMessage(1, 5).Path.RepoPath())
	h.close(t)
	for _, p := range packsOf(t, h) {
		if strings.HasSuffix(p, ".idx") && strings.Contains(gitOut(t, h.repo(), "verify-pack", "-v", p), blob) {
			remove(t, p)
			remove(t, strings.TrimSuffix(p, ".idx")+".pack")
		}
	}
	writeFile(t, filepath.Join(h.repo(), packsName), "")
	h.open(t)
	if _, err := h.Get(testMessage(1, 5).Path); err == nil {
		t.Fatal("it is not lost")
	}
	wantTold(t, h)
}

// It prevents that a message which is known to be lost is forgotten because the remote was fetched
// anew. The remote does not have this message.
func TestWhatTheRemoteLacksStaysLost(t *testing.T) {
	t.Parallel()
	h, back := lostWhileAway(t)
	never := testMessage(3, 1).Path // like a message that an operator committed here and that is not pushed yet
	if err := h.NameLost([]protocol.Path{testMessage(1, 1).Path, never}); err != nil {
		t.Fatal(err)
	}
	back()
	h.sync(t)
	wantMessages(t, h, 0, 10)
	wantSame(t, "lost", h.Lost(), []string{never.RepoPath()})
}

func packsOf(t *testing.T, h *home) []string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(h.repo(), "objects", "pack", "pack-*"))
	if err != nil {
		t.Fatal(err)
	}
	return packs
}

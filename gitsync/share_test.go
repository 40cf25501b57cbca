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

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

func TestInitFillsAnEmptyRemoteAndOthersAdopt(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	b := newHome(t, "b", remote)
	if a.ID() != b.ID() || gitOut(t, remote, "rev-list", "--max-parents=0", "main") != a.ID() {
		t.Errorf("the ids are %s and %s", a.ID(), b.ID())
	}
	found, err := Init(t.Context(), Options{Dir: t.TempDir(), Remote: remote, Author: Author{Name: "c"}, Builtin: isBuiltin(t)}, rootFiles)
	if err != nil || !found.Adopted || found.ID != a.ID() || len(found.Notes) > 0 {
		t.Errorf("Init = %+v, %v", found, err)
	}
	if _, err := Init(t.Context(), a.opts, rootFiles); !errors.Is(err, ErrExists) {
		t.Errorf("a second Init: %v", err)
	}
}

func TestInitSetsTheHeadOfALocalRemote(t *testing.T) {
	t.Parallel()
	remote := filepath.Join(t.TempDir(), "remote.git")
	gitOut(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=master", remote)
	opts := Options{Dir: filepath.Join(t.TempDir(), "a"), Remote: "file://" + remote, Author: Author{Name: "a"}, Builtin: isBuiltin(t)}
	found, err := Init(t.Context(), opts, rootFiles)
	if err != nil || len(found.Notes) != 1 {
		t.Fatalf("Init = %+v, %v", found, err)
	}
	if got := gitOut(t, remote, "symbolic-ref", "HEAD"); got != carrier.MainRef {
		t.Errorf("HEAD of the remote is %s", got)
	}
}

func TestInitRefusesAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	foreign := func(branch string, files map[string]string) string {
		remote, work := bareRemote(t), t.TempDir()
		gitOut(t, work, "init", "--quiet", "--initial-branch="+branch)
		for name, text := range files {
			writeFile(t, filepath.Join(work, name), text)
		}
		gitOut(t, work, "add", "-A")
		gitOut(t, work, "commit", "--quiet", "--allow-empty", "-m", "other")
		gitOut(t, work, "push", "--quiet", remote, branch)
		return remote
	}
	refusing := bareRemote(t)
	newHome(t, "first", refusing)
	for _, c := range []struct {
		name, remote, says string
		want               error
	}{
		{"other content", foreign("main", map[string]string{"README": "x"}), versionFile, ErrForeign},
		{"another version", foreign("main", map[string]string{versionFile: "4.0\n"}), `"4.0\n"`, ErrForeign},
		{"two newlines", foreign("main", map[string]string{versionFile: "5.0\n\n"}), "5.0", ErrForeign},
		{"no main", foreign("master", nil), "branch master", ErrForeign},
		{"unreachable", filepath.Join(t.TempDir(), "nothing"), "does not appear to be a git repository", ErrRemote},
		{"an option", "--upload-pack=x", "shared repository", nil},
		{"a helper", "ext::sh -c true", "shared repository", nil},
		{"refused by the caller", refusing, "not this fleet", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "deep", "home")
			opts := Options{Dir: dir, Remote: c.remote, Author: Author{Name: "a"}, Builtin: isBuiltin(t)}
			opts.Check = func(func(string) ([]byte, bool, error)) error { return errors.New("not this fleet") }
			_, err := Init(t.Context(), opts, rootFiles)
			if err == nil || !strings.Contains(err.Error(), c.says) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("Init: %v", err)
			}
			if _, err := os.Lstat(filepath.Dir(dir)); !errors.Is(err, os.ErrNotExist) {
				t.Error("something was left behind")
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A host that knows the remote's tip and cannot read what lies between it and its own main pushes
// nothing in its place. It prevents: a push that insists on the tip, and so replaces it.
func TestAPushOfUnreadableAncestryReplacesNothing(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	b.append(t, testMessage(2, 1))
	b.sync(t)
	tip, tree := b.progress.main()
	a.append(t, testMessage(1, 1))
	if err := a.main.commit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	a.progress.remoteIs(tip, tree) // a has not that commit, as if it was lost
	if err := a.share.push(t.Context()); err == nil {
		t.Error("it was pushed")
	}
	if got := gitOut(t, remote, "rev-parse", "main"); got != tip.String() {
		t.Errorf("main of the remote is %s, not %s", got, tip)
	}
}

func TestTwoRecordsInterleaved(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	var all []MessageFile
	for n := range 12 {
		one, two := testMessage(1, n), testMessage(2, n)
		all = append(all, one, two)
		a.append(t, one)
		b.append(t, two)
		if err := a.main.commit(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if err := b.main.commit(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if n%3 == 0 {
			// b pushes first without a's knowledge. So a's push is rejected.
			b.sync(t)
			if err := a.share.pushUntilTaken(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.sync(t)
	b.sync(t)
	a.sync(t)
	want := paths(all...)
	slices.Sort(want)
	for _, repo := range []string{a.repo(), b.repo(), remote} {
		wantSame(t, "messages", messages(t, repo, "main"), want)
		wantClean(t, repo)
	}
	if a.Tip() != b.Tip() {
		t.Errorf("the tips differ: %s and %s", a.Tip(), b.Tip())
	}
	if merges := gitOut(t, remote, "rev-list", "--merges", "main"); merges != "" {
		t.Errorf("nodes alone made merge commits: %s", merges)
	}
	for _, h := range []*home{a, b} {
		if s := h.Status(); s.Unpushed != 0 || s.Unrecorded != 0 || h.journal.Bytes() > 4096 && len(h.progress.held) > 0 {
			t.Errorf("status = %+v", s)
		}
	}
	if got := a.Place(testPath(2, 0)); got != Pushed {
		t.Errorf("a message of the other host is %s", got)
	}
	wantOnce(t, "arrived at a", a.seen.get(&a.seen.arrived), 12)
	wantOnce(t, "arrived at b", b.seen.get(&b.seen.arrived), 12)
	wantOnce(t, "pushed by a", a.seen.get(&a.seen.pushed), 12)
}

func wantOnce(t *testing.T, what string, got []string, count int) {
	t.Helper()
	slices.Sort(got)
	if n := len(slices.Compact(slices.Clone(got))); n != count || len(got) != count {
		t.Errorf("%s: %d of which %d different, want %d once each", what, len(got), n, count)
	}
}

func TestPlainCloneParticipates(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	h := newHome(t, "a", remote)
	clone := filepath.Join(t.TempDir(), "clone")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, clone)
	var want []string
	for n := range 20 {
		l := testMessage(7, 19-n)
		writeFile(t, filepath.Join(clone, l.Path.RepoPath()), string(l.Data))
		want = append(want, l.Path.String())
	}
	slices.Sort(want)
	writeFile(t, filepath.Join(clone, "hosts/x.md"), "x\n")
	gitOut(t, clone, "add", "-A")
	gitOut(t, clone, "commit", "--quiet", "-m", "twenty messages")
	gitOut(t, clone, "push", "--quiet")
	h.append(t, testMessage(1, 1))
	h.sync(t)
	h.sync(t)
	wantSame(t, "arrived", h.seen.get(&h.seen.arrived), want)
	wantSame(t, "files", h.seen.get(&h.seen.files), []string{"hosts/x.md"})
	gitOut(t, clone, "pull", "--quiet", "--rebase")
	if _, err := os.Stat(filepath.Join(clone, testPath(1, 1).RepoPath())); err != nil {
		t.Error(err)
	}
	wantClean(t, remote)
}

func TestPeerMessagesWaitForTheirGrace(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	one := testMessage(1, 1)
	a.append(t, one)
	heard := one
	heard.Peer = true
	b.append(t, heard)
	if err := b.main.commit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got := b.Place(one.Path); got != Stored {
		t.Errorf("within the grace the place is %s", got)
	}
	a.sync(t)
	b.sync(t)
	if got := b.Place(one.Path); got != Pushed {
		t.Errorf("after its own host pushed it the place is %s", got)
	}
	wantSame(t, "arrived", b.seen.get(&b.seen.arrived), nil)
	wantSame(t, "recorded", b.seen.get(&b.seen.recorded), paths(one))
	wantSame(t, "pushed", b.seen.get(&b.seen.pushed), paths(one))
	if a.Tip() != b.Tip() {
		t.Errorf("b made a commit although it had nothing to add:\n%s\n%s", gitOut(t, b.repo(), "log", "--stat", "--format=%h %an %s"), b.log)
	}

	two := testMessage(1, 2)
	two.Peer = true
	b.courier.peers = time.Nanosecond
	b.append(t, two)
	if err := b.main.commit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got := b.Place(two.Path); got != Recorded {
		t.Errorf("after the grace the place is %s", got)
	}
}

func TestRemoteRewritten(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	first := gitOut(t, remote, "rev-parse", "main")
	one, two, three := testMessage(1, 1), testMessage(2, 2), testMessage(3, 3)
	a.append(t, one)
	a.sync(t)
	b.append(t, two)
	b.sync(t)
	a.sync(t)
	// Somebody throws both messages away and pushes something else.
	clone := filepath.Join(t.TempDir(), "clone")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, clone)
	gitOut(t, clone, "reset", "--quiet", "--hard", first)
	writeFile(t, filepath.Join(clone, three.Path.RepoPath()), string(three.Data))
	gitOut(t, clone, "add", "-A")
	gitOut(t, clone, "commit", "--quiet", "-m", "rewritten")
	gitOut(t, clone, "push", "--quiet", "--force")
	a.sync(t)
	wantSame(t, "messages", messages(t, remote, "main"), paths(one, two, three))
	wantSame(t, "arrived", a.seen.get(&a.seen.arrived), paths(two, three))
	if !strings.Contains(a.log.String(), "rewritten") {
		t.Errorf("the log does not say so: %s", a.log)
	}
	// Main is only set back, without anything new.
	gitOut(t, remote, "update-ref", carrier.MainRef, first)
	b.sync(t)
	wantSame(t, "messages", messages(t, remote, "main")[:2], paths(one, two))
	wantClean(t, remote)
	// Main is gone altogether.
	gitOut(t, remote, "update-ref", "-d", carrier.MainRef)
	a.sync(t)
	wantSame(t, "messages", messages(t, remote, "main"), paths(one, two, three))
}

func TestMessagesRemovedByACommitComeBack(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	one := testMessage(1, 1)
	a.append(t, one)
	a.sync(t)
	clone := filepath.Join(t.TempDir(), "clone")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, clone)
	gitOut(t, clone, "rm", "--quiet", "-r", "data/channels/"+testChannel.String(), "README.md")
	// Even a file in the way of the channel's folder does not keep the folder away.
	writeFile(t, filepath.Join(clone, "data/channels", testChannel.String()), "in the way\n")
	gitOut(t, clone, "add", "-A")
	gitOut(t, clone, "commit", "--quiet", "-m", "vandal")
	gitOut(t, clone, "push", "--quiet")
	a.sync(t)
	wantSame(t, "messages", messages(t, remote, "main"), paths(one))
	if _, ok, err := a.ReadFile("README.md"); ok || err != nil {
		t.Errorf("another file that was removed is there: %v, %v", ok, err)
	}
	wantClean(t, remote)
}

func TestAnotherRecordIsRefused(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	a.append(t, testMessage(1, 1))
	a.sync(t)
	tip := a.Tip()
	other := bareRemote(t)
	newHome(t, "b", other)
	gitOut(t, other, "push", "--quiet", "--force", remote, "main")
	if err := a.Sync(t.Context()); !errors.Is(err, ErrForeign) {
		t.Errorf("Sync: %v", err)
	}
	if a.Tip() != tip || a.Status().RemoteTip != tip {
		t.Error("something changed")
	}
	if got := a.Status().Trouble.Text; !strings.Contains(got, a.ID()) || strings.Contains(got, "\n") {
		t.Errorf("RemoteError = %q", got)
	}
	// A stranger's history is no loss of ours: nothing is said to be put back into it.
	if said := a.log.String(); strings.Contains(said, "put back") || strings.Contains(said, "rewritten") {
		t.Errorf("the log says: %s", said)
	}
}

func TestUnreachableRemote(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	one := testMessage(1, 1)
	a.append(t, one)
	if err := a.Sync(t.Context()); !errors.Is(err, ErrRemote) {
		t.Errorf("Sync: %v", err)
	}
	if got := a.Place(one.Path); got != Recorded {
		t.Errorf("the message is %s: commits must not wait for the remote", got)
	}
	if a.Status().Trouble.Text == "" || a.Status().Unpushed != 1 {
		t.Errorf("status = %+v", a.Status())
	}
	// What is not pushed is still in the journal after a restart.
	a.close(t)
	a.open(t)
	if a.Status().Unpushed != 1 || len(a.progress.held) != 1 {
		t.Errorf("after a restart: %+v", a.Status())
	}
	if err := os.Rename(remote+".away", remote); err != nil {
		t.Fatal(err)
	}
	a.sync(t)
	if s := a.Status(); s.Trouble.Text != "" || s.Unpushed != 0 || a.Place(one.Path) != Pushed {
		t.Errorf("status = %+v", s)
	}
	wantSame(t, "pushed", a.seen.get(&a.seen.pushed), paths(one))
}

func TestOneMessageWithTwoContents(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	p := testPath(1, 1)
	ours, theirs := MessageFile{Path: p, Data: []byte("ours\n")}, MessageFile{Path: p, Data: []byte("theirs\n")}
	winner, loser := ours.Data, theirs.Data
	if !lowerHash(p, winner, loser) {
		winner, loser = loser, winner
	}
	a.append(t, ours)
	b.append(t, theirs)
	a.sync(t)
	b.sync(t)
	a.sync(t)
	for _, h := range []*home{a, b} {
		data, err := h.Get(p)
		if err != nil || string(data) != string(winner) {
			t.Errorf("at the path: %q, %v", data, err)
		}
		kept, ok, err := h.ReadFile(conflictPath(p.String(), loser))
		if err != nil || !ok || string(kept) != string(loser) {
			t.Errorf("kept: %q, %v, %v", kept, ok, err)
		}
		if data, ok, err := h.GetConflict(p, protocol.Hash(loser)); err != nil || !ok || string(data) != string(loser) {
			t.Errorf("by its hash: %q, %v, %v", data, ok, err)
		}
		if _, ok, _ := h.GetConflict(p, protocol.Hash(winner)); ok {
			t.Error("the winner is kept as a loser")
		}
		var walked []string
		err = h.Walk(t.Context(), func(l MessageFile) error {
			if l.Path == p {
				walked = append(walked, string(l.Data))
			}
			return nil
		})
		if err != nil || !slices.Equal(walked, []string{string(winner), string(loser)}) {
			t.Errorf("walked past %q, %v: a state that is rebuilt needs both", walked, err)
		}
		if n := h.Status(); n.Unpushed != 0 || len(h.progress.held) != 0 {
			t.Errorf("status = %+v", n)
		}
	}
	if a.Tip() != b.Tip() {
		t.Error("the tips differ")
	}
	wantClean(t, remote)
}

// It prevents: a host whose fetches take longer than their interval fetches all the time, and never
// pushes.
func TestPushesThoughAFetchIsAlwaysDue(t *testing.T) {
	t.Parallel()
	t.Run("builtin", func(t *testing.T) {
		h := newHome(t, "a", bareRemote(t))
		h.share.opts.FetchInterval = time.Nanosecond
		h.append(t, testMessage(1, 1))
		h.run(t)
		eventually(t, "it is pushed", func() bool { return h.Place(testPath(1, 1)) == Pushed })
	})
}

func TestRunSharesBothWays(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	for _, h := range []*home{a, b} {
		h.share.opts.FetchInterval = 20 * time.Millisecond
		h.share.opts.PushInterval = time.Millisecond
		h.run(t)
	}
	const each = 25
	for n := range each {
		a.append(t, testMessage(1, n))
		b.append(t, testMessage(2, n))
	}
	eventually(t, "both have everything and it is pushed", func() bool {
		return len(a.seen.get(&a.seen.arrived)) == each && len(b.seen.get(&b.seen.arrived)) == each &&
			a.Status().Unpushed == 0 && b.Status().Unpushed == 0 &&
			a.Place(testPath(2, each-1)) == Pushed && b.Place(testPath(1, each-1)) == Pushed
	})
	wantOnce(t, "in the remote", messages(t, remote, "main"), 2*each)
	if a.seen.overlapped || b.seen.overlapped {
		t.Error("events were told concurrently")
	}
}

func TestRingFetchesSoon(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	b.share.opts.FetchInterval = time.Hour
	b.run(t)
	eventually(t, "the first fetch is over", func() bool { return !b.Status().LastFetch.IsZero() })
	a.append(t, testMessage(1, 1))
	a.sync(t)
	for range 5 {
		b.Ring()
	}
	eventually(t, "the message is there", func() bool { return b.Place(testPath(1, 1)) != Absent })
}

func TestStopTriesOneLastPush(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	a.share.opts.PushInterval = time.Hour
	stop := a.run(t)
	a.append(t, testMessage(1, 1))
	eventually(t, "the first is pushed", func() bool { return a.Place(testPath(1, 1)) == Pushed })
	a.append(t, testMessage(1, 2))
	stop()
	wantSame(t, "in the remote", messages(t, remote, "main"), []string{testPath(1, 1).String(), testPath(1, 2).String()})
}

func TestFilesOfTwoHosts(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	for _, c := range []struct {
		h    *home
		name string
		n    int
	}{{a, "a", 1}, {b, "b", 1}, {a, "a", 2}, {b, "b", 2}} {
		if err := c.h.PutFile("hosts/"+c.name+".md", fmt.Appendf(nil, "%s %d\n", c.name, c.n)); err != nil {
			t.Fatal(err)
		}
		if err := c.h.main.commit(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	a.sync(t)
	b.sync(t)
	a.sync(t)
	for _, name := range []string{"a", "b"} {
		if got := gitOut(t, remote, "show", "main:hosts/"+name+".md"); got != name+" 2" {
			t.Errorf("hosts/%s.md is %q", name, got)
		}
	}
	wantSame(t, "files told to a", a.seen.get(&a.seen.files), []string{"hosts/b.md"})
}

func TestRemotePasswordIsNotShown(t *testing.T) {
	t.Parallel()
	remote := "https://ann:secret@127.0.0.1:1/x.git"
	_, err := Init(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "a"), Remote: remote, Author: Author{Name: "a"}}, rootFiles)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Init: %v", err)
	}
	if got := redact.Remote(remote); strings.Contains(got, "secret") {
		t.Errorf("redact = %q", got)
	}
}

// The pauses after a rejected push are those of local/JITTER.md. If it has none, they are those of
// upstream/JITTER.md, or else those of the seed.
func TestJitterOfTheRecord(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	h := newHome(t, "a", "")
	warnings := func() int { return strings.Count(h.log.String(), "passed over") }
	want := func(want protocol.Jitter, warned int) {
		t.Helper()
		h.share.mu.Lock()
		defer h.share.mu.Unlock()
		for range 2 {
			if got := h.share.jitter.rule(); got != want || warnings() != warned {
				t.Errorf("%+v with %d warnings, want %+v with %d", got, warnings(), want, warned)
			}
		}
		for range 100 {
			if d := h.share.jitter.pause(1); d < 0 || d >= want.Limit(1) {
				t.Errorf("a pause of %s", d)
			}
		}
	}
	write := func(path, fields string) {
		t.Helper()
		if err := h.WriteFile(t.Context(), path, []byte("---\n"+fields+"---\n")); err != nil {
			t.Fatal(err)
		}
		h.sync(t)
	}
	want(protocol.DefaultJitter, 0)
	write("upstream/JITTER.md", "backoff_base_ms: 30\nbackoff_ceiling_ms: 40\n")
	want(protocol.Jitter{Base: 30 * ms, Ceiling: 40 * ms}, 0)
	write("local/JITTER.md", "backoff_base_ms: 7\n")
	want(protocol.Jitter{Base: 7 * ms, Ceiling: 5000 * ms}, 0)
	write("local/JITTER.md", "backoff_base_ms: soon\n")
	want(protocol.Jitter{Base: 30 * ms, Ceiling: 40 * ms}, 1)
}

func TestPushesAreCounted(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	a.append(t, testMessage(1, 1))
	a.sync(t)
	b.append(t, testMessage(2, 1))
	if err := b.main.commit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := b.share.pushUntilTaken(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Status{"a": a.Status(), "b": b.Status()} {
		if wantRejected := map[string]int{"b": 1}[name]; s.Pushes != 1 || s.Rejected != wantRejected {
			t.Errorf("%s: %d pushes were taken and %d rejected", name, s.Pushes, s.Rejected)
		}
	}
}

// It prevents: a push of many messages that git does not take, and an error of such a push that
// names the settings instead of what git was to do.
func TestManyMessagesArePushedAtOnce(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	var all []MessageFile
	for n := range manyUnpushed + 1 {
		all = append(all, testMessage(1, n))
	}
	a.append(t, all...)
	if a.main.commit(t.Context(), false) != nil || !a.share.lacksMany() {
		t.Fatal("the remote lacks nothing")
	}
	away := remote + ".away"
	if err := os.Rename(remote, away); err != nil {
		t.Fatal(err)
	}
	if err := a.share.push(t.Context()); !errors.Is(err, ErrRemote) || !isBuiltin(t) && !strings.Contains(err.Error(), "git push: ") {
		t.Errorf("a push to nowhere: %v", err)
	}
	if err := os.Rename(away, remote); err != nil {
		t.Fatal(err)
	}
	if err := a.share.push(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.sync(t)
	if got := messages(t, remote, "main"); len(got) != len(all) {
		t.Errorf("the remote has %d of %d messages", len(got), len(all))
	}
	if arrived := b.seen.get(&b.seen.arrived); len(arrived) != len(all) {
		t.Errorf("%d of %d messages came", len(arrived), len(all))
	}
}

// It prevents that after a push of many messages over a slow line the next push waits for minutes.
// A push of many that failed must be tried again as soon as any other that failed.
func TestTheRestAfterAPushOfManyIsBounded(t *testing.T) {
	t.Parallel()
	end := time.Now()
	for _, c := range []struct {
		took     time.Duration
		failures int
		want     time.Duration
	}{{time.Second, 0, shareRest * time.Second}, {time.Hour, 0, pushRest}, {time.Hour, 1, 0}} {
		e := effort{start: end.Add(-c.took), end: end, due: end, failures: c.failures}
		if e.rest(); e.due.Sub(end) != c.want {
			t.Errorf("after %s and %d failures the next is due in %s, want %s", c.took, c.failures, e.due.Sub(end), c.want)
		}
	}
}

package gitsync

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// signedByTest takes a message that names its own path for signed.
func signedByTest(p protocol.Path, data []byte) bool {
	return bytes.Contains(data, []byte("sig: "+p.String()))
}

// signedMessage is a message for which signedByTest stands.
func signedMessage(writer, n int) MessageFile {
	m := testMessage(writer, n)
	m.Data = fmt.Appendf(m.Data, "sig: %s\n", m.Path)
	return m
}

// manyDays makes a commit in which one file stands for 12 messages an hour of many days: a few
// objects and 20,160 messages. Nothing else is in its data.
func manyDays(t *testing.T, repo, parent string) string {
	t.Helper()
	entry := "100644 blob " + gitInput(t, repo, "---\nfrom: x\n---\n\nx\n", "hash-object", "-w", "--stdin")
	for _, level := range [][]string{names("%06d000Z-00c0ffee.md", 720), names("%02d", 28), {"05"}, {"2026"}, {testChannel.String()}, {"channels"}, {"data"}} {
		var lines strings.Builder
		for _, name := range level {
			fmt.Fprintf(&lines, "%s\t%s\n", entry, name)
		}
		entry = "040000 tree " + gitInput(t, repo, lines.String(), "mktree")
	}
	lines := gitOut(t, repo, "ls-tree", strings.TrimPrefix(entry, "040000 tree ")) // data alone
	for line := range strings.Lines(gitOut(t, repo, "ls-tree", parent) + "\n") {
		if !strings.HasSuffix(strings.TrimSpace(line), "\tdata") {
			lines += "\n" + strings.TrimSpace(line)
		}
	}
	return gitOut(t, repo, "commit-tree", "-m", "x", "-p", parent, gitInput(t, repo, lines+"\n", "mktree"))
}

func names(form string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, i+1))
	}
	return all
}

// 31 KiB that unfold to a million messages halted all agents of a fleet for minutes. Now they are
// not taken in, the commit and its author are named, and the operator can let them in.
func TestUnsignedFloodIsRefused(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	b := newHome(t, "b", remote)
	b.sync(t)
	good := gitOut(t, remote, "rev-parse", "main")
	flood := manyDays(t, remote, good)
	after := gitOut(t, remote, "commit-tree", "-m", "y", "-p", flood, flood+"^{tree}")
	gitOut(t, remote, "update-ref", "refs/heads/main", after)
	b.close(t)
	b.opts.Signed = signedByTest
	b.open(t)
	if err := b.Fetch(t.Context()); err == nil {
		t.Fatal("it was taken in")
	}
	at := b.Status().Trouble
	if at.Kind != KindHuge || !strings.Contains(at.Text, "commit "+flood[:12]+" of operator <o@example.org>") || !strings.Contains(at.Advice, "parley record admit "+flood) {
		t.Errorf("trouble %+v", at)
	}
	if err := b.Admit(flood); err != nil {
		t.Fatal(err)
	}
	if err := b.Fetch(t.Context()); err != nil || b.Status().Trouble.Kind != KindNone {
		t.Fatalf("what the operator let in: %v", err)
	}
	if got := len(b.seen.get(&b.seen.arrived)); got != 720*28 {
		t.Errorf("%d messages arrived", got)
	}
	if err := b.Admit("main"); err == nil {
		t.Error("a name that is no commit was admitted")
	}
}

// Half a megabyte that stands for 25 GB in 250 files halted each host at each start: few files were
// never weighed, and each was inflated whole to see that it is too large. Now the commit is refused
// and named, and what is too large is not inflated even where it is let in.
func TestFewLargeFilesAreWeighed(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	remote := bareRemote(t)
	b := newHome(t, "b", remote)
	b.sync(t)
	good := gitOut(t, remote, "rev-parse", "main")
	blob := gitInput(t, remote, strings.Repeat("0", 100<<20), "hash-object", "-w", "--stdin")
	index := "GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")
	run := func(input string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin, cmd.Env = remote, strings.NewReader(input), append(os.Environ(), index)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("", "read-tree", good)
	var lines strings.Builder
	for n := range 250 {
		fmt.Fprintf(&lines, "100644 %s\tlocal/actors/q%d.md\n", blob, n)
	}
	run(lines.String(), "update-index", "--add", "--index-info")
	flood := run("", "commit-tree", "-m", "x", "-p", good, run("", "write-tree"))
	after := gitOut(t, remote, "commit-tree", "-m", "y", "-p", flood, flood+"^{tree}")
	gitOut(t, remote, "update-ref", "refs/heads/main", after)
	b.close(t)
	b.opts.Signed = signedByTest
	b.open(t)
	if err := b.Fetch(t.Context()); err == nil {
		t.Fatal("it was taken in")
	}
	if at := b.Status().Trouble; at.Kind != KindHuge || !strings.Contains(at.Text, "commit "+flood[:12]) {
		t.Errorf("trouble %+v", at)
	}
	if err := b.Admit(flood); err != nil {
		t.Fatal(err)
	}
	if err := b.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 250 {
		data, ok, err := b.ReadFile(fmt.Sprintf("local/actors/q%d.md", n))
		if err != nil || !ok || len(data) != protocol.MaxFile+1 {
			t.Fatalf("q%d.md: %d bytes were read, %v %v", n, len(data), ok, err)
		}
	}
}

// A host that was away for long takes in however much others have signed.
func TestSignedMailIsNeverTooMuch(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	b.close(t)
	b.opts.Signed = signedByTest
	b.open(t)
	var all []MessageFile
	for n := range mostUnsigned + 500 {
		all = append(all, signedMessage(1, n+1))
	}
	a.append(t, all...)
	a.sync(t)
	b.sync(t)
	if got := len(b.seen.get(&b.seen.arrived)); got != len(all) {
		t.Errorf("%d messages arrived", got)
	}
}

// One push of a stranger stopped the mail of all hosts until an operator came. Now what hosts of the
// fleet have signed is read out of the main that is not taken in: before the stranger's commit, in it
// and after it.
func TestSignedMailComesThroughAFlood(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	t.Run("builtin", testSignedMailComesThroughAFlood)
	testSignedMailComesThroughAFlood(t)
}

func testSignedMailComesThroughAFlood(t *testing.T) {
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	b.close(t)
	b.opts.Signed = signedByTest
	b.opts.Known = func(p protocol.Path, data []byte) bool {
		return signedByTest(p, data) && !bytes.Contains(data, []byte("from: w9"))
	}
	b.open(t)
	before, within, after, mine := signedMessage(1, 1), signedMessage(2, 2), signedMessage(3, 3), signedMessage(4, 4)
	plain := testMessage(1, 2) // nobody signed it, and it was there before the flood
	a.append(t, before, plain)
	a.sync(t)
	good := gitOut(t, remote, "rev-parse", "main")
	gitOut(t, remote, "update-ref", "refs/heads/main", manyDays(t, remote, good))
	commitByHand(t, remote, within, signedMessage(9, 5), testMessage(5, 6)) // a stranger's and an unsigned one are not read
	gitOut(t, remote, "update-ref", "refs/heads/main", gitOut(t, remote, "commit-tree", "-m", "x", "-p", good, "main^{tree}"))
	commitByHand(t, remote, after)
	b.append(t, mine)
	for range 2 {
		if err := b.Fetch(t.Context()); err == nil {
			t.Fatal("it was taken in")
		}
	}
	at := b.Status().Trouble
	if at.Kind != KindHuge || !strings.Contains(at.Text, "nothing of this host goes out by git") {
		t.Errorf("trouble %+v", at)
	}
	wantSame(t, "messages that arrived", b.seen.get(&b.seen.arrived), paths(before, plain, within, after))
	gitOut(t, remote, "update-ref", "refs/heads/main", good)
	b.sync(t)
	wantSame(t, "messages of the remote once it is set back", messages(t, remote, "main"), paths(before, plain, within, after, mine))
}

// Folders without end, in depth or breadth, keep a host from reading what others have signed in the
// same commit.
func TestSignedMailBesideABomb(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	for name, bomb := range map[string]func(*testing.T, string) string{
		"wide": func(t *testing.T, repo string) string { return repeated(t, repo, 12) },
		"hollow": func(t *testing.T, repo string) string {
			return repeatedEntry(t, repo, 12, "040000 tree "+gitInput(t, repo, "", "mktree"))
		},
		"deep": func(t *testing.T, repo string) string { return nested(t, repo, 80) },
	} {
		t.Run(name, func(t *testing.T) {
			remote := bareRemote(t)
			b := newHome(t, "b", remote)
			b.sync(t)
			b.close(t)
			b.opts.Signed, b.opts.Known = signedByTest, signedByTest
			b.open(t)
			mail := signedMessage(1, 1)
			commitByHand(t, remote, mail)
			channels := gitOut(t, remote, "ls-tree", "main:data/channels") + "\n040000 tree " + bomb(t, remote) + "\t00000000-0000-4000-8000-000000000000\n"
			data := "040000 tree " + gitInput(t, remote, channels, "mktree") + "\tchannels\n"
			tree := strings.ReplaceAll(gitOut(t, remote, "ls-tree", "main")+"\n", "\tdata\n", "\tother\n") + "040000 tree " + gitInput(t, remote, data, "mktree") + "\tdata\n"
			moveByHand(t, remote, gitInput(t, remote, tree, "mktree"), gitOut(t, remote, "rev-parse", "main~1"))
			if err := b.Fetch(t.Context()); err == nil {
				t.Fatal("it was taken in")
			}
			wantSame(t, "messages that arrived", b.seen.get(&b.seen.arrived), paths(mail))
		})
	}
}

// Somebody pushed 4,900 files every ten seconds, and each fetch took them in. Now a day takes in ten
// times as many as one fetch, and the operator can let in more.
func TestUnsignedFilesOfADayAreBounded(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	b := newHome(t, "b", remote)
	now := time.Now()
	b.close(t)
	b.opts.Signed, b.opts.Now = signedByTest, func() time.Time { return now }
	b.open(t)
	b.sync(t)
	push := func(n int) error {
		commitByHand(t, remote, testMessage(1, n), signedMessage(2, n))
		return b.Fetch(t.Context())
	}
	if err := push(1); err != nil {
		t.Fatal(err)
	}
	b.share.day.files += mostFetches*mostUnsigned - 2 // as many pushes did
	if err := push(2); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is not taken in counts once
		if err := push(3); err == nil || b.Status().Trouble.Kind != KindHuge || !strings.Contains(err.Error(), "more than 50000 new files") {
			t.Fatalf("one more: %v", err)
		}
	}
	now = now.Add(24 * time.Hour)
	if err := b.Fetch(t.Context()); err != nil {
		t.Errorf("a day later: %v", err)
	}
	b.share.day.bytes = mostFetches * mostUnsignedBytes
	if err := push(4); err == nil {
		t.Error("more bytes were taken in")
	}
	if err := b.Admit(gitOut(t, remote, "rev-parse", "main")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Fetch(t.Context()), push(5)); err != nil {
		t.Errorf("after the operator let it in: %v", err)
	}
}

// A million messages that came with one fetch were reported to their end before a node stopped.
func TestStopDoesNotWaitForWhatArrives(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	for n := range 4 * arrivedBatch {
		a.append(t, testMessage(1, n+1))
	}
	a.sync(t)
	told := 0
	b.tell.events.Arrived = func(messages []MessageFile) {
		told += len(messages)
		b.StopBy(time.Now().Add(time.Second))
	}
	if err := b.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told != arrivedBatch {
		t.Errorf("%d messages were reported after the stop began", told-arrivedBatch)
	}
	if _, err := b.Told(); err == nil {
		t.Error("it says that all was reported")
	}
}

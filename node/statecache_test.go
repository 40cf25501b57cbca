package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// answers returns what a node says to everything that can be asked of its state.
func answers(t *testing.T, n *Node) []string {
	t.Helper()
	var all []string
	say := func(what string, answer any, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, what+" "+string(text))
	}
	ctx := t.Context()
	messages := everything(t, n)
	for i, m := range messages {
		m.Heard = nil // gone with the process
		say("log", m, nil)
		if i%7 == 0 {
			thread, err := control.Thread.Ask(ctx, n, control.ThreadRequest{Path: m.Path.Suffix()})
			for i := range thread {
				thread[i].Heard = nil
			}
			say("thread", thread, err)
		}
	}
	names := []string{n.cfg.Human.String()}
	for _, a := range n.roster.All() {
		names = append(names, a.Name.String())
	}
	for _, as := range names {
		for _, every := range []bool{true, false} {
			box, err := control.Inbox.Ask(ctx, n, control.InboxRequest{As: as, All: every})
			for i := range box {
				box[i].Heard = nil
			}
			say("inbox of "+as, box, err)
		}
	}
	agents, err := control.Agents.Ask(ctx, n)
	for i := range agents { // only the process knows when that was
		agents[i].Since, agents[i].Asked = time.Time{}, time.Time{}
	}
	say("agents", agents, err)
	channels, err := control.Channels.Ask(ctx, n)
	say("channels", channels, err)
	list, err := control.List.Ask(ctx, n, control.HostsRequest{})
	for i := range list {
		list[i].Live, list[i].State, list[i].Since, list[i].Asked = false, "", time.Time{}, time.Time{} // of the moment
	}
	say("list", list, err)
	stats, err := n.recordView.RecordStats(ctx)
	stats.Disk, stats.Journal, stats.Packs = 0, 0, 0
	say("stats", stats, err)
	verified, err := n.audits.Verify(ctx)
	say("verify", verified, err)
	status, err := control.ShowStatus.Ask(ctx, n)
	warned := slices.DeleteFunc(status.Warned, func(text string) bool { // the other warnings are of the moment
		return !strings.HasPrefix(text, "skipped") && !strings.HasPrefix(text, "refused")
	})
	say("warnings", []any{status.Refused, warned, status.Record.Messages}, err)
	return all
}

// same compares what a node says with what it said before.
func same(t *testing.T, what string, want []string, n *Node) {
	t.Helper()
	if diff := cmp.Diff(want, answers(t, n)); diff != "" {
		t.Errorf("%s: other answers (-want +got):\n%s", what, diff)
	}
}

// busyHome makes a home with some life in its record: mail, answers, receipts, a channel, plain
// mail, files that are no messages, and a file that lost its path.
func busyHome(t *testing.T) (home configs.Home, n *Node, stop func()) {
	t.Helper()
	remote := bareRemote(t)
	home = initHome(t, func(o *homes.Options) { o.Remote = remote })
	n, stop = runNode(t, home)
	addExec(t, n, "echo", "cat")
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "words", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.NewChannel.Ask(t.Context(), n, control.NewChannelRequest{As: "nat", Name: "sprint"}); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		answerTo(t, n, say(t, n, "echo", fmt.Sprint("hello ", i)).Path)
		m := say(t, n, "words", fmt.Sprint("word ", i))
		if i%2 == 0 {
			if _, err := control.Read.Ask(t.Context(), n, control.ReadRequest{As: "words", Path: m.Path.String()}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{protocol.All}, Body: fmt.Sprint("to all ", i)}); err != nil {
			t.Fatal(err)
		}
		if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"words"}, Channel: "sprint", Body: "in the channel"}); err != nil {
			t.Fatal(err)
		}
	}
	clone := cloneOf(t, remote)
	channel := protocol.DeriveChannel("somewhere", "else").String()
	plain := plainMail(t, clone, channel, "20260523T190000000", "alice", "nat", "by hand")
	push(t, clone)
	eventually(t, "the plain mail is here", func() bool {
		n.record.Ring()
		_, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: plain.String()})
		return err == nil
	})
	bad := filepath.Join(clone, filepath.FromSlash(protocol.ChannelsDir), channel, "2026", "05", "23", "nonsense.md")
	if err := os.WriteFile(bad, []byte("no message\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "add", ".")
	git(t, clone, "commit", "--quiet", "-m", "nonsense")
	push(t, clone)
	eventually(t, "the nonsense is here", func() bool {
		n.record.Ring()
		s, err := control.ShowStatus.Ask(t.Context(), n)
		return err == nil && len(s.Warned) > 0
	})
	contest(t, n, clone, plain)
	rest(t, n)
	return home, n, stop
}

// rest waits until everything is pushed and every agent has nothing to do.
func rest(t *testing.T, n *Node) {
	t.Helper()
	eventually(t, "everything is pushed and handled", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		busy := s.Record.Unpushed + s.Record.Unrecorded
		for _, a := range s.Agents {
			busy += a.Queued + a.Running
		}
		return err == nil && busy == 0
	})
}

// contest has this node hold another content of a path that plain git wrote, and show that one.
func contest(t *testing.T, n *Node, clone string, p protocol.Path) {
	t.Helper()
	text := "---\nfrom: alice\nto: nat\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\n---\n\nby another hand\n"
	file := filepath.Join(clone, filepath.FromSlash(p.RepoPath()))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "commit", "--quiet", "-a", "-m", "changed")
	push(t, clone)
	eventually(t, "the other content is here", func() bool {
		n.record.Ring()
		if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: p.String()}); err != nil || m.Body != "by another hand" {
			return false // it is in the record before the state knows
		}
		files, err := n.record.FilesOf(n.record.Tip())
		if err != nil {
			t.Fatal(err)
		}
		kept, err := files.Keep(p, protocol.Hash([]byte(text)))
		return err == nil && kept
	})
}

// archives returns the files of the cache.
func archives(t *testing.T, home configs.Home) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home.StateCache(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// opened returns the node of a home, not running, and what its start logged.
func opened(t *testing.T, home configs.Home) (n *Node, log string) {
	t.Helper()
	var out bytes.Buffer
	n, err := Open(t.Context(), Options{Home: home, Version: "test", Log: zerolog.New(&out)})
	if err != nil {
		t.Fatal(err)
	}
	return n, out.String()
}

const ofNoUse = "the cache of the state is of no use"

func closeNode(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// A state from the cache, with what came since, gives the same answers as a state that is read from
// the whole record, whatever happened to the cache in between.
func TestStateFromTheCacheIsTheSame(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	home, n, stop := busyHome(t)
	before := answers(t, n)
	if err := n.freezer.Freeze(); err != nil {
		t.Fatal(err)
	}
	same(t, "once it is frozen", before, n)
	if n.state.Ledger.Loose() > 0 {
		t.Errorf("%d messages of main were not frozen", n.state.Ledger.Loose())
	}
	half := say(t, n, "echo", "after the cache was written")
	answerTo(t, n, half.Path)
	rest(t, n)
	before = answers(t, n)
	stop()
	files := archives(t, home)
	if len(files) != 1 {
		t.Fatalf("the cache holds %q", files)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	foreign := otherArchive(t)
	for name, test := range map[string]struct {
		change func() error
		used   bool
	}{
		"as it is":          {func() error { return nil }, true},
		"gone":              {func() error { return os.RemoveAll(home.Cache()) }, false},
		"a flipped bit":     {func() error { return os.WriteFile(files[0], flipped(whole), 0o600) }, false},
		"cut short":         {func() error { return os.WriteFile(files[0], whole[:len(whole)/2], 0o600) }, false},
		"empty":             {func() error { return os.WriteFile(files[0], nil, 0o600) }, false},
		"of another record": {func() error { return os.WriteFile(files[0], foreign, 0o600) }, false},
		"of another form": {func() error {
			return os.WriteFile(files[0], bytes.Replace(whole, []byte("archive-"), []byte("ARCHIVE-"), 1), 0o600)
		}, false},
		"half written beside it": {func() error {
			return os.WriteFile(filepath.Join(home.StateCache(), "tmp-1"), whole[:100], 0o600)
		}, true},
		"an older one beside it": {func() error {
			return os.WriteFile(filepath.Join(home.StateCache(), "00000000.archive"), foreign, 0o600)
		}, true},
		"a newer one that is broken": {func() error {
			return os.WriteFile(filepath.Join(home.StateCache(), "00000099.archive"), foreign, 0o600)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(home.Cache()); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(home.StateCache(), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := test.change(); err != nil {
				t.Fatal(err)
			}
			n, log := opened(t, home)
			defer closeNode(t, n)
			if got := n.cache.InUse(); got != test.used {
				t.Errorf("the cache is used: %v, want %v; the log:\n%s", got, test.used, log)
			}
			same(t, name, before, n)
			if err := n.freezer.Freeze(); err != nil {
				t.Fatal(err)
			}
			if got := archives(t, home); len(got) != 1 {
				t.Errorf("the cache holds %q", got)
			}
			same(t, name+", frozen again", before, n)
		})
	}
}

func flipped(data []byte) []byte {
	other := bytes.Clone(data)
	other[len(other)/2] ^= 4
	return other
}

// otherArchive returns the cache of another record.
func otherArchive(t *testing.T) []byte {
	t.Helper()
	n, stop := runNode(t, initHome(t, nil))
	defer stop()
	rest(t, n)
	if err := n.freezer.Freeze(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(archives(t, n.home)[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// It prevents: messages stay in the state because the cache has them, although main, which an
// operator has set back, does not.
func TestCacheWithMoreThanTheRecord(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addExec(t, n, "echo", "cat")
	answerTo(t, n, say(t, n, "echo", "stays").Path)
	rest(t, n)
	tip := n.record.Tip()
	before := answers(t, n)
	answerTo(t, n, say(t, n, "echo", "goes").Path)
	rest(t, n)
	if err := n.freezer.Freeze(); err != nil {
		t.Fatal(err)
	}
	stop()
	git(t, home.Record(), "update-ref", "refs/heads/main", tip)
	n, log := opened(t, home)
	defer closeNode(t, n)
	if n.record.Tip() != tip {
		t.Skip("main was put forward: the cache holds no more than it")
	}
	if !strings.Contains(log, ofNoUse) {
		t.Errorf("the log does not say why the whole record was read:\n%s", log)
	}
	same(t, "main was set back", before, n)
}

// If a cache cannot be written, that is said once, and nothing else suffers.
func TestCacheThatCannotBeWritten(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addExec(t, n, "echo", "cat")
	if err := os.RemoveAll(home.StateCache()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.StateCache(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n.freezer.FreezeOrSay()
	n.freezer.FreezeOrSay()
	s, err := control.ShowStatus.Ask(t.Context(), n)
	if err != nil || len(s.Warned) != 1 || !strings.Contains(s.Warned[0], "cannot write the cache") {
		t.Errorf("warnings: %q, %v", s.Warned, err)
	}
	answerTo(t, n, say(t, n, "echo", "hello").Path)
	rest(t, n)
	before := answers(t, n)
	stop()
	n, _ = opened(t, home)
	defer closeNode(t, n)
	if diff := cmp.Diff(withoutWarnings(before), withoutWarnings(answers(t, n))); diff != "" {
		t.Errorf("without a cache (-want +got):\n%s", diff)
	}
}

func withoutWarnings(answers []string) []string { return answers[:len(answers)-1] }

// The cache is written while two hosts talk. What comes in the middle of it, by whichever way, is
// neither lost nor doubled.
func TestFreezingWhileHostsTalk(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	other := initHome(t, func(o *homes.Options) { o.Remote, o.Alias, o.Human = remote, "white", "eve" })
	n, stop := runNode(t, home)
	m, stopOther := runNode(t, other)
	addExec(t, n, "echo", "cat")
	eventually(t, "the hosts know each other", func() bool {
		n.record.Ring()
		m.record.Ring()
		a, _ := control.List.Ask(t.Context(), n, control.HostsRequest{})
		b, _ := control.List.Ask(t.Context(), m, control.HostsRequest{})
		return len(a) == 3 && len(b) == 3
	})
	each := scratch.Rounds(3, 8)
	talking, done := context.WithCancel(t.Context())
	var freezing, sending sync.WaitGroup
	freezing.Go(func() {
		for talking.Err() == nil {
			if err := n.freezer.Freeze(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i, from := range []*Node{n, n, m, m} {
		sending.Go(func() {
			for k := range each {
				_, err := control.Send.Ask(t.Context(), from, control.SendRequest{As: from.cfg.Human.String(), To: []string{"echo"}, Body: fmt.Sprint(i, " says ", k)})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	sending.Wait()
	all := 4*each*3 + 3 // with answers and receipts; two joins, and which agents are served
	eventually(t, "everything is here and pushed", func() bool {
		n.record.Ring()
		m.record.Ring()
		s, err := control.ShowStatus.Ask(t.Context(), n)
		return err == nil && s.Record.Messages >= all && s.Record.Unpushed == 0 && s.Record.Unrecorded == 0
	})
	done()
	freezing.Wait()
	stopOther()
	if err := n.freezer.Freeze(); err != nil {
		t.Fatal(err)
	}
	before := answers(t, n)
	stop()
	cached, _ := opened(t, home)
	same(t, "from the cache", before, cached)
	closeNode(t, cached)
	if err := os.RemoveAll(home.Cache()); err != nil {
		t.Fatal(err)
	}
	anew, _ := opened(t, home)
	defer closeNode(t, anew)
	same(t, "from the record", before, anew)
	if len(everything(t, anew)) < all {
		t.Errorf("the record holds %d messages, want %d", len(everything(t, anew)), all)
	}
}

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Somebody who pushes very many files, under whatever names, delays signed mail by one run at a
// time. Mail of one author keeps its order all the same. It prevents: 10,000 such files keep signed
// mail unanswered for over a minute.
func TestAFloodDelaysNobodyElse(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	fastFetch(t, home)
	n, _ := runNode(t, home)
	ran := filepath.Join(t.TempDir(), "ran")
	addExec(t, n, "shout", "sh -c 'read line; echo $line >>"+ran+"; echo done'")
	pause := func(paused bool) {
		if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: "shout", Paused: paused}); err != nil {
			t.Fatal(err)
		}
	}
	pause(true)
	const flood, signed = 500, 5
	pushFlood(t, n.cfg.Remote, flood)
	queued := func(want int) {
		eventually(t, fmt.Sprint(want, " messages wait"), func() bool {
			all, err := control.Agents.Ask(t.Context(), n)
			return err == nil && all[0].Queued == want
		})
	}
	queued(flood)
	var last control.Message
	for i := range signed {
		last = say(t, n, "shout", fmt.Sprint("signed ", i))
	}
	queued(flood + signed)
	pause(false)
	answerTo(t, n, last.Path)
	pause(true)
	data, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if at := slices.Index(lines, fmt.Sprint("signed ", signed-1)); at >= 2*signed {
		t.Errorf("the last of %d signed messages was run after %d others", signed, at)
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "flood") })
	if len(lines) != signed || !slices.IsSorted(lines) {
		t.Errorf("signed mail was run as %q", lines)
	}
}

// pushFlood pushes that many messages to the agent shout, by a hundred authors for whom nobody
// vouches.
func pushFlood(t testing.TB, remote string, many int) {
	t.Helper()
	clone := cloneOf(t, remote)
	at := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	for i := range many {
		p := protocol.NewPath("aaaaaaaa-0000-4000-8000-000000000025", at.Add(time.Duration(i)*time.Second), uint32(i))
		file := filepath.Join(clone, filepath.FromSlash(p.RepoPath()))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("---\nfrom: alice%d\nto: shout\ntype: text\ntimestamp: %s\n---\n\nflood %d\n", i%100, p.Time().Format(protocol.TimestampLayout), i)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t, clone, "add", ".")
	git(t, clone, "commit", "--quiet", "-m", "flood")
	push(t, clone)
}

// BenchmarkFlood measures how long signed mail waits for its answer if it is said while a push of
// 10,000 unsigned messages to its agent comes. It measures from the fetch on, beside a bare git
// fetch of that push.
func BenchmarkFlood(b *testing.B) {
	const flood = 10_000
	for range b.N {
		b.StopTimer()
		home := initHome(b, func(o *homes.Options) { o.Remote = bareRemote(b) })
		n, stop := runNode(b, home)
		addExec(b, n, "shout", "echo done")
		eventually(b, "the host's words are pushed", func() bool {
			s, err := control.ShowStatus.Ask(b.Context(), n)
			return err == nil && s.Record.Unrecorded+s.Record.Unpushed == 0
		})
		bare := filepath.Join(b.TempDir(), "bare.git")
		git(b, b.TempDir(), "clone", "--quiet", "--bare", "--no-local", n.cfg.Remote, bare)
		pushFlood(b, n.cfg.Remote, flood)
		began := time.Now()
		git(b, bare, "-c", "core.fsync=all", "-c", "fetch.unpackLimit=1", "fetch", "--quiet", n.cfg.Remote, "+main:fetched")
		bareFetch := time.Since(began)
		b.StartTimer()
		began = time.Now()
		fetched := make(chan error, 1)
		go func() { // ends with the fetch
			_, err := control.Wake.Ask(b.Context(), n, control.WakeRequest{})
			fetched <- err
		}()
		// The mail is sent when the flood is there, and not before.
		eventually(b, "the flood begins to be told", n.halts.Any)
		coming := time.Since(began)
		answerTo(b, n, say(b, n, "shout", "signed").Path)
		b.ReportMetric(time.Since(began).Seconds(), "s/answer")
		b.ReportMetric(coming.Seconds(), "s/coming")
		b.ReportMetric(bareFetch.Seconds(), "s/bare-fetch")
		if err := awaited(b, "the fetch", fetched); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if _, err := control.PauseAgent.Ask(b.Context(), n, control.PauseRequest{Name: "shout", Paused: true}); err != nil {
			b.Fatal(err)
		}
		stop()
	}
}

//go:build !windows

package gitsync

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// fakeGit puts a script before the git program. The script can reach the program as $REAL.
func fakeGit(t *testing.T, script string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\nREAL="+git+"\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// hangAt lets the git program hang for ever when it is asked for `verb`. The program ignores
// SIGTERM, and so does a helper that keeps its output open. `pid` returns the number of the helper
// once it runs.
func hangAt(t *testing.T, verb string) (pid func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	fakeGit(t, `case " $* " in *" `+verb+` "*) `+hang(file)+`;; esac
exec $REAL "$@"
`)
	return func() int { return pidIn(file) }
}

// hang returns what a script does that hangs with a helper. The helper's number stands in `file`.
func hang(file string) string {
	return fmt.Sprintf("trap '' TERM; sleep 1000 & echo $! >%s.new; mv %s.new %s; wait; sleep 1000", file, file, file)
}

// pidIn returns the number in a file, or 0 while there is none.
func pidIn(file string) int {
	data, _ := os.ReadFile(file)
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// endsSoon wants something to be done within the time that a node may take to stop: 4.5 s for what
// git does and half a second for the rest. A busy machine adds to that. The failure that is looked
// for took 48 s and more.
func endsSoon(t *testing.T, what string, done <-chan error) {
	t.Helper()
	const most = 30 * time.Second
	began := time.Now()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s has not ended after a minute", what)
	}
	if took := time.Since(began); took > most {
		t.Errorf("%s ended after %s, more than %s", what, took, most)
	}
}

// TestHangingGitIsGivenUp prevents that a git program which hangs, at whatever it is asked, holds
// up the end of the node. The same goes for a helper of it that keeps its output open. None of them
// is left behind.
func TestHangingGitIsGivenUp(t *testing.T) {
	verbs, dir := []string{"config", "fetch", "push"}, t.TempDir()
	homes := map[string]*home{} // the home of a verb has the verb's name
	for _, verb := range verbs {
		h := newHome(t, verb, bareRemote(t))
		h.close(t)
		homes[verb] = h
	}
	asks := homes["config"] // how git runs ssh, which matters only where git may run it
	asks.opts.Remote = "https://127.0.0.1:1/x.git"
	if err := carrier.SetRemote(asks.repo(), asks.opts.Remote); err != nil {
		t.Fatal(err)
	}
	fakeGit(t, `for verb in config fetch push; do
	case " $* " in *"/$verb/`+repoName+` "*" $verb "*) `+hang(filepath.Join(dir, "$verb"))+`;; esac
done
exec $REAL "$@"
`)
	for _, verb := range verbs {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			h, pid := homes[verb], func() int { return pidIn(filepath.Join(dir, verb)) }
			h.open(t) // with a git program that has answered nothing yet
			h.append(t, testMessage(1, 1))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- h.Run(ctx) }()
			eventually(t, "git hangs", func() bool { return pid() != 0 })
			cancel()
			endsSoon(t, "Run", done)
			eventually(t, "the helper is killed", func() bool { return syscall.Kill(pid(), 0) != nil })
		})
	}
}

// TestNobodyWhoWaitsForTheRemoteHoldsUpTheEnd prevents that a node which is told to stop waits for
// a fetch that somebody else has asked for. The last push comes after that fetch.
func TestNobodyWhoWaitsForTheRemoteHoldsUpTheEnd(t *testing.T) {
	h := newHome(t, "a", bareRemote(t))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	eventually(t, "the first fetch is done", func() bool { return !h.Status().LastFetch.IsZero() })
	pid := hangAt(t, "fetch")
	fetched := make(chan error, 1)
	go func() { fetched <- h.Fetch(context.Background()) }()
	eventually(t, "git hangs", func() bool { return pid() != 0 })
	h.append(t, testMessage(1, 1))
	h.StopBy(time.Now().Add(4500 * time.Millisecond))
	cancel()
	endsSoon(t, "Run", done)
	if err := <-fetched; err == nil {
		t.Error("a fetch that was cut short is said to have succeeded")
	}
	if trouble := h.Status().Trouble; trouble.Kind != KindNone {
		t.Errorf("stopping is called a trouble with the remote: %+v", trouble)
	}
}

// TestMendingDoesNotHoldUpTheEnd prevents that a record in which damage was found waits up to 16
// minutes for the remote before it closes.
func TestMendingDoesNotHoldUpTheEnd(t *testing.T) {
	h := newHome(t, "a", bareRemote(t))
	pid := hangAt(t, "fetch")
	mended := make(chan error, 1)
	go func() { mended <- h.mender.mend(objects.BlobHash([]byte("lost"))) }()
	eventually(t, "git hangs", func() bool { return pid() != 0 })
	closed := make(chan error, 1)
	go func() { closed <- h.Close() }()
	endsSoon(t, "Close", closed)
	if err := <-mended; err == nil {
		t.Error("what nobody has was mended")
	}
}

// TestAHelperMayOutliveGit prevents that a fetch or push which succeeded counts as failed. Git may
// start a shared connection of ssh or a cache of credentials in the background, which keeps git's
// output open.
func TestAHelperMayOutliveGit(t *testing.T) {
	h := newHome(t, "a", bareRemote(t))
	file := filepath.Join(t.TempDir(), "pid")
	fakeGit(t, "sleep 1000 & echo $! >>"+file+"\nexec $REAL \"$@\"\n")
	t.Cleanup(func() {
		data, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(word); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	h.append(t, testMessage(1, 1))
	h.sync(t)
	if s := h.Status(); s.Unpushed != 0 {
		t.Errorf("%d are not pushed", s.Unpushed)
	}
}

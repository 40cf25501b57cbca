package gitsync

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Everything that is shared is shared without the git program, too.
func TestBuiltinCarrier(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"empty remote":   TestInitFillsAnEmptyRemoteAndOthersAdopt,
		"head":           TestInitSetsTheHeadOfALocalRemote,
		"refusals":       TestInitRefusesAndLeavesNothingBehind,
		"interleaved":    TestTwoRecordsInterleaved,
		"plain clone":    TestPlainCloneParticipates,
		"grace":          TestPeerMessagesWaitForTheirGrace,
		"rewritten":      TestRemoteRewritten,
		"removed":        TestMessagesRemovedByACommitComeBack,
		"another record": TestAnotherRecordIsRefused,
		"unreachable":    TestUnreachableRemote,
		"two contents":   TestOneMessageWithTwoContents,
		"both ways":      TestRunSharesBothWays,
		"bell":           TestRingFetchesSoon,
		"last push":      TestStopTriesOneLastPush,
		"files":          TestFilesOfTwoHosts,
		"filled at once": TestTwoHostsFillOneRemoteAtOnce,
		"operator":       TestOperatorCommitsByHand,
		"by links":       TestSharedByLinks,
		"another host":   TestFetchFromAnotherHost,
		"gc":             TestCommitsSurviveGcAndRepackInBetween,
		"killed at any moment": func(t *testing.T) {
			scratch.Long(t)
			t.Setenv(crashBuiltin, "1")
			killLosesNothing(t)
		},
	} {
		t.Run("builtin/"+name, test)
	}
}

// A run that was killed while it moved the remote's main leaves a lock there. The next run removes
// this lock. It waits for a lock of somebody else.
func TestBuiltinRemovesItsOwnLock(t *testing.T) {
	t.Parallel()
	t.Run("builtin/lock", func(t *testing.T) {
		h := newHome(t, "a", bareRemote(t))
		lock := filepath.Join(h.opts.Remote, filepath.FromSlash(carrier.MainRef)+".lock")
		writeFile(t, lock, "")
		h.append(t, testMessage(1, 1))
		if err := h.Sync(t.Context()); err == nil || !strings.Contains(err.Error(), "main.lock") {
			t.Errorf("the lock of another program was passed over: %v", err)
		}
		writeFile(t, filepath.Join(h.repo(), "parley-pushing"), "")
		h.sync(t)
		if got := len(messages(t, h.opts.Remote, "main")); got != 1 {
			t.Errorf("%d messages on the remote, want 1", got)
		}
		if _, err := os.Stat(filepath.Join(h.repo(), "parley-pushing")); err == nil {
			t.Error("the note of a push stays")
		}
	})
}

// isMixed reports whether every second record of a test does without the git
// program.
func isMixed(t testing.TB) bool { return strings.Contains(t.Name(), "/mixed") }

// Records of both kinds share one remote. Whatever races, each message is there once, and git finds
// nothing wrong.
func TestCarriersOfBothKinds(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	t.Run("mixed/filled at once", TestTwoHostsFillOneRemoteAtOnce)
	t.Run("mixed/pushed at once", func(t *testing.T) {
		const each = 10
		remote := bareRemote(t)
		var homes []*home
		for i := range 4 {
			h := newHome(t, string(rune('a'+i)), remote)
			if h.opts.Builtin = i%2 == 0; h.opts.Builtin {
				h.share.git = carrier.New(nil, h.store, remote, true)
			}
			homes = append(homes, h)
		}
		var all sync.WaitGroup
		for i, h := range homes {
			all.Go(func() {
				for n := range each {
					if err := h.Append(t.Context(), []MessageFile{testMessage(i, n)}); err != nil {
						t.Error(err)
					}
					if err := h.Sync(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got := len(messages(t, remote, "main")); got != 4*each {
			t.Errorf("%d messages are on the remote, want %d", got, 4*each)
		}
		gitOut(t, remote, "fsck", "--strict")
	})
}

// With no git program at all, records share a repository on this machine.
func TestWithoutTheGitProgram(t *testing.T) {
	remote := bareRemote(t)
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	if kind := fmt.Sprintf("%T", a.share.git); kind != "*carrier.builtin" {
		t.Fatalf("the carrier is %s", kind)
	}
	for i, h := range []*home{a, b, a} {
		if err := h.Append(t.Context(), []MessageFile{testMessage(1, i)}); err != nil {
			t.Fatal(err)
		}
		h.sync(t)
	}
	b.sync(t)
	for i := range 3 {
		if p := testMessage(1, i).Path; b.Place(p) != Pushed || a.Place(p) != Pushed {
			t.Errorf("%s is %s at a and %s at b", p, a.Place(p), b.Place(p))
		}
	}
	t.Setenv("PATH", path)
	if got := len(messages(t, remote, "main")); got != 3 {
		t.Errorf("%d messages are on the remote, want 3", got)
	}
	gitOut(t, remote, "fsck", "--strict")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, "clone")
}

// The builtin carrier does not pass over what only the git program enforces.
func TestBuiltinRefusesWhatOnlyGitEnforces(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	h := newHome(t, "a", remote)
	h.share.git = carrier.New(nil, h.store, remote, true)
	if err := h.Append(t.Context(), []MessageFile{testMessage(1, 1)}); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(remote, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.Sync(t.Context()); !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "pre-receive") {
		t.Errorf("past a hook: %v", err)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	h.sync(t)

	work := t.TempDir()
	gitOut(t, work, "clone", "--quiet", "--no-local", remote, ".")
	into := carrier.New(nil, h.store, work, true)
	tip, _ := h.progress.main()
	older, _, err := h.store.Ref(carrier.RemoteRef)
	if err != nil || older != tip {
		t.Fatalf("%s, %v", older, err)
	}
	if err := h.Append(t.Context(), []MessageFile{testMessage(2, 2)}); err != nil {
		t.Fatal(err)
	}
	h.sync(t)
	tip, _ = h.progress.main()
	if err := into.Push(t.Context(), tip, objects.Zero, false); !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "bare") {
		t.Errorf("into a work tree: %v", err)
	}
	if err := carrier.New(nil, h.store, t.TempDir(), true).Push(t.Context(), tip, objects.Zero, false); !errors.Is(err, ErrRemote) {
		t.Errorf("into an empty folder: %v", err)
	}
}

// httpRemote serves a bare repository as git's own web server does.
func httpRemote(t *testing.T, remote, user, password string) string {
	t.Helper()
	program, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(program)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skipf("no git-http-backend here: %v", err)
	}
	handler := &cgi.Handler{Path: backend, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(remote), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=a",
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(remote)
}

func TestBuiltinOverHTTP(t *testing.T) {
	remote := bareRemote(t)
	url := httpRemote(t, remote, "nat", "secret")
	open := strings.Replace(url, "http://", "http://nat:secret@", 1)
	t.Run("builtin", func(t *testing.T) {
		a, b := newHome(t, "a", open), newHome(t, "b", open)
		for i := range 3 {
			for j, h := range []*home{a, b} {
				if err := h.Append(t.Context(), []MessageFile{testMessage(j, i)}); err != nil {
					t.Fatal(err)
				}
				h.sync(t)
			}
		}
		a.sync(t)
		if got := len(messages(t, remote, "main")); got != 6 {
			t.Errorf("%d messages are on the remote, want 6", got)
		}
		for _, p := range messages(t, a.repo(), "main") {
			if !strings.Contains(p, "/") {
				t.Errorf("no path: %s", p)
			}
		}
		gitOut(t, remote, "fsck", "--strict")
		gitOut(t, a.repo(), "fsck", "--strict")

		// The name and password may stand in ~/.netrc. Without them the error says so.
		home := t.TempDir()
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		host := strings.Split(strings.TrimPrefix(url, "http://"), ":")[0]
		closed := carrier.New(nil, a.store, url, true)
		if err := closed.FetchMain(t.Context()); !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), ".netrc") {
			t.Errorf("without a password: %v", err)
		}
		rc := fmt.Sprintf("machine elsewhere login x password y\nmachine other password z\nmachine %s\n\tlogin nat\n\tpassword secret\n", host)
		if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte(rc), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := closed.FetchMain(t.Context()); err != nil {
			t.Errorf("with .netrc: %v", err)
		}
		if err := carrier.New(nil, a.store, open+"-not", true).FetchMain(t.Context()); !errors.Is(err, ErrRemote) {
			t.Errorf("a repository that is not there: %v", err)
		}
	})
	// A hook that says no is an error that tells why. It is no race after which the push runs
	// again.
	t.Run("builtin/hook", func(t *testing.T) {
		h := newHome(t, "c", open)
		hook := filepath.Join(remote, "hooks", "pre-receive")
		if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(hook, []byte("#!/bin/sh\necho no >&2\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := h.Append(t.Context(), []MessageFile{testMessage(99, 99)}); err != nil {
			t.Fatal(err)
		}
		if err := h.Sync(t.Context()); !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "pre-receive hook declined: no") {
			t.Errorf("past a hook: %v", err)
		}
	})
}

// MissingPack gives everything that a commit needs.
func TestMissingIsEnough(t *testing.T) {
	t.Parallel()
	a := newHome(t, "a", "")
	for i := range 20 {
		if err := a.Append(t.Context(), []MessageFile{testMessage(1, i)}); err != nil {
			t.Fatal(err)
		}
		a.sync(t)
	}
	tip, _ := a.progress.main()
	dir := bareRemote(t)
	to, err := objects.Open(dir, a.store.Logger())
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	pack, err := a.store.MissingPack(tip, objects.Zero, func() error { checks++; return nil })
	if err != nil || checks != 1 {
		t.Fatalf("%d checks, %v", checks, err)
	}
	if err := errors.Join(to.InstallPack(pack), pack.Close()); err != nil {
		t.Fatal(err)
	}
	if err := to.MoveRef(carrier.MainRef, objects.Zero, tip); err != nil {
		t.Fatal(err)
	}
	gitOut(t, dir, "fsck", "--strict")
	if err := to.InstallPack(strings.NewReader("PACK and then nothing")); err == nil {
		t.Error("a torn pack was taken in")
	}
	stop := errors.New("stop")
	if _, err := a.store.MissingPack(tip, objects.Zero, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a pack that is not wanted any more: %v", err)
	}
	for _, repo := range []string{dir, a.repo()} {
		left, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "tmp_*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// A remote may take the connection and say nothing. It holds nobody up beyond the time that a run
// may take. It prevents: a node that cannot stop, because go-git does not listen to ctx while it
// waits.
func TestBuiltinGivesUpOnASilentRemote(t *testing.T) {
	t.Parallel()
	asked, end := make(chan struct{}, 8), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-end
	}))
	defer server.Close()
	defer close(end)
	a := newHome(t, "a", "")
	ctx, cancel := context.WithCancelCause(t.Context())
	stops := errors.New("the node stops")
	go func() {
		<-asked
		cancel(stops)
	}()
	if err := carrier.New(nil, a.store, server.URL+"/x.git", true).FetchMain(ctx); !errors.Is(err, stops) || !errors.Is(err, ErrRemote) {
		t.Errorf("fetchMain: %v", err)
	}
}

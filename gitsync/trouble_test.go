package gitsync

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
)

// endOfSSH is how git ends, whatever ended ssh. Because of it, a host that could not be resolved
// was taken for a missing right, with a pause of minutes.
const endOfSSH = "\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n"

// These texts are what git, ssh, hosting services and our own carrier say, word for word.
func TestKindsOfTrouble(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Kind{
		"ssh: Could not resolve hostname git.example.org: Name or service not known\nfatal: Could not read from remote repository.": KindUnreachable,
		"fatal: unable to access 'https://git.example.org/x/': Could not resolve host: git.example.org":                             KindUnreachable,
		"ssh: connect to host git.example.org port 22: Connection refused":                                                          KindUnreachable,
		"ssh: connect to host git.example.org port 22: Connection timed out":                                                        KindUnreachable,
		"ssh: connect to host git.example.org port 22: No route to host":                                                            KindUnreachable,
		"kex_exchange_identification: Connection closed by remote host":                                                             KindUnreachable,
		"fatal: the remote end hung up unexpectedly":                                                                                KindUnreachable,
		"fatal: unable to access 'https://git.example.org/x/': The requested URL returned error: 503":                               KindUnreachable,
		"dial tcp 127.0.0.1:1: connect: connection refused":                                                                         KindUnreachable,
		"dial tcp: lookup git.example.org: no such host":                                                                            KindUnreachable,
		"git fetch: no answer within 1m0s":                                                                                          KindUnreachable,
		"git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.":                             KindAuthentication,
		"fatal: could not read Username for 'https://github.com': terminal prompts disabled":                                        KindAuthentication,
		"remote: Invalid username or password.\nfatal: Authentication failed for 'https://github.com/a/b.git/'":                     KindAuthentication,
		"ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain":       KindAuthentication,
		"authentication required": KindAuthentication,
		"Received disconnect from 192.0.2.1 port 22:2: Too many authentication failures":                                                           KindAuthentication,
		"Host key verification failed.\nfatal: Could not read from remote repository.":                                                             KindUntrusted,
		"ssh: handshake failed: knownhosts: key is unknown; connect once with ssh, so that ~/.ssh/known_hosts has the host's key":                  KindUntrusted,
		"fatal: unable to access 'https://git.example.org/': server certificate verification failed. CAfile: none CRLfile: none":                   KindUntrusted,
		"remote: Permission to a/b.git denied to c.\nfatal: unable to access 'https://github.com/a/b.git/': The requested URL returned error: 403": KindPermission,
		"ERROR: The key you are authenticating with has been marked as read only.\nfatal: Could not read from remote repository.":                  KindPermission,
		"remote: You are not allowed to push code to this project.\nfatal: unable to access 'x': The requested URL returned error: 403":            KindPermission,
		"remote: error: insufficient permission for adding an object to repository database ./objects":                                             KindPermission,
		"fatal: detected dubious ownership in repository at '/srv/record.git'":                                                                     KindPermission,
		"ERROR: Repository not found.\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights":       KindNotFound,
		"remote: Repository not found.\nfatal: repository 'https://github.com/a/b.git/' not found":                                                 KindNotFound,
		"fatal: '/srv/record.git' does not appear to be a git repository":                                                                          KindNotFound,
		"remote: The project you were looking for could not be found or you don't have permission to view it.":                                     KindNotFound,
		"! refs/heads/main:refs/heads/main [remote rejected] (pre-receive hook declined)\nremote: no messages today":                               KindHook,
		"refused: hook declined: not on Sundays": KindHook,
		"remote: error: GH006: Protected branch update failed for refs/heads/main.\n! x [remote rejected] (protected branch hook declined)":                                                      KindProtected,
		"remote: error: GH013: Repository rule violations found for refs/heads/main.\n! x [remote rejected] (push declined)":                                                                     KindProtected,
		"remote: GitLab: You are not allowed to push code to protected branches on this project.\n! x [remote rejected] (pre-receive hook declined)":                                             KindProtected,
		"! refs/heads/main:refs/heads/main [remote rejected] (branch is currently checked out)":                                                                                                  KindWorkTree,
		"remote: GitLab: Your push has been rejected, because this repository has exceeded its size limit.\n! x [remote rejected] (hook declined)":                                               KindFull,
		"fatal: unable to access 'https://github.com/a/b.git/': The requested URL returned error: 429":                                                                                           KindThrottled,
		"unexpected client error: unexpected requesting \"https://x/info/refs\" status code: 429":                                                                                                KindThrottled,
		"remote: This endpoint has been requested too many times. Try again later.":                                                                                                              KindThrottled,
		"ERROR: You have exceeded a secondary rate limit.":                                                                                                                                       KindThrottled,
		"ssh_exchange_identification: Too many connections":                                                                                                                                      KindThrottled,
		"/srv/record.git has the hook update, which only the git program runs: install the package \"git\" of your system":                                                                       KindNeedsGit,
		"fatal: write error: No space left on device":                                                                                                                                            KindDisk,
		"fatal: the receiving end does not support push options\nfatal: the remote end hung up unexpectedly":                                                                                     KindSettings,
		"error: object 0123456: badTimezone: invalid author/committer line - bad time zone\nfatal: fsck error in packed object\nfatal: fetch-pack: invalid index-pack output":                    KindObject,
		"remote: error: object 0123456: missingEmail\nremote: fatal: fsck error in packed object\n! x [remote rejected] (unpacker error)":                                                        KindObject,
		"remote: error: GH013: Repository rule violations found for refs/heads/main.\nremote: - GITHUB PUSH PROTECTION\n! x [remote rejected] (push declined due to repository rule violations)": KindContent,
		"remote: PUSH BLOCKED: Secrets detected in code changes\n! x [remote rejected] (pre-receive hook declined)":                                                                              KindContent,
		"remote: error: GH008: Your push referenced at least 1 unknown Git LFS object:\n! x [remote rejected] (pre-receive hook declined)":                                                       KindContent,
		"error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413\nfatal: the remote end hung up unexpectedly":                                                                  KindTooLarge,
		"remote: fatal: pack exceeds maximum allowed size\nerror: remote unpack failed: index-pack abnormal exit":                                                                                KindTooLarge,
		"fatal: Out of memory, malloc failed (tried to allocate 1610612736 bytes)\nfatal: fetch-pack: invalid index-pack output":                                                                 KindShortage,
		"error: cannot fork() for ssh: Resource temporarily unavailable\nfatal: unable to fork":                                                                                                  KindShortage,
		"error: cannot run /opt/ssh: No such file or directory\nfatal: unable to fork":                                                                                                           KindSettings,
		"fatal: bad config line 3 in file /home/nat/.gitconfig":                                                                                                                                  KindSettings,
		"fatal: transport 'https' not allowed":                                                                  KindSettings,
		"git: 'remote-https' is not a git command. See 'git --help'.":                                           KindNeedsGit,
		"fatal: unable to access 'https://git.example.org/x/': Received HTTP code 407 from proxy after CONNECT": KindAuthentication,
		"something that nobody has heard before":                                                                KindOther,
		"error: cannot open '/srv/white/record.git/FETCH_HEAD': Read-only file system":                          KindReadOnly,
	} {
		if got, _ := kindOfText("", text, false); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got, _ := kindOfText("", text+endOfSSH, false); got != want && want != KindOther {
			t.Errorf("%q, as git ends it over ssh, is %q, want %q", text, got, want)
		}
	}
	if got, _ := kindOfText("", endOfSSH, false); got != KindPermission {
		t.Errorf("an ssh that says nothing is %q", got)
	}
	if got, _ := kindOfText("", "remote: fatal: write error: No space left on device", true); got != KindFull {
		t.Errorf("a remote without room is %q", got)
	}
}

// FuzzKindOfTrouble feeds anything that a remote might say to kindOfText.
func FuzzKindOfTrouble(f *testing.F) {
	f.Add("! a:b\t[remote rejected] (pre-receive hook declined)\nremote: no\n")
	f.Fuzz(func(_ *testing.T, output string) { kindOfText("", output, true) })
}

// It prevents that what the remote's machine lacks is looked for on this one.
func TestWhatTheRemoteIsShortOf(t *testing.T) {
	t.Parallel()
	for text, said := range map[string]string{
		"cannot fetch: git fetch: Out of memory, malloc failed; early EOF":              "remote: fatal: Out of memory, malloc failed\rremote: aborting\nfatal: early EOF\n",
		"cannot push main: git push: refused: unpacker error: cannot run hook: no such": "remote: fatal: cannot run hook: no such\n! x [remote rejected] (unpacker error)",
	} {
		if got, advice := kindOfText(text, said, true); got == KindShortage || got == KindSettings {
			t.Errorf("%q is %q: %s", said, got, advice)
		}
	}
	if got, _ := kindOfText("cannot fetch: git fetch: cannot fork() for ssh: Resource temporarily unavailable", "", false); got != KindShortage {
		t.Errorf("what this machine lacks is %q", got)
	}
}

func TestPausesAreBounded(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind][2]time.Duration{
		KindUnreachable:    {200 * time.Millisecond, remoteWait},
		KindAuthentication: {200 * time.Millisecond, personWait},
		KindThrottled:      {throttledWait, throttledLast},
	} {
		if got := [2]time.Duration{pauseAfter(kind, 1), pauseAfter(kind, 1000)}; got != want {
			t.Errorf("%s: first and longest pause %v, want %v", kind, got, want)
		}
	}
}

// While the remote is away, it is tried for ever, with bounded pauses. The log says once that it is
// away. Messages are recorded all the same.
func TestAwayAndBack(t *testing.T) {
	t.Parallel()
	inBubble(t, testAwayAndBack)
	t.Run("git", func(t *testing.T) { synctest.Test(t, testAwayAndBack) })
}

func testAwayAndBack(t *testing.T) {
	remote := bareRemote(t)
	h := newHome(t, "a", remote)
	var told []Kind
	h.tell.events.Trouble = func(t Trouble) { told = append(told, t.Kind) }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	time.Sleep(time.Second)
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	h.append(t, testMessage(1, 1), testMessage(1, 2))
	left := time.Now()
	const away = 10 * time.Minute // far longer than it takes until the pauses grow no more
	time.Sleep(away)
	s := h.Status()
	if s.Trouble.Kind != KindNotFound || s.Trouble.Since.Sub(left) > 5*time.Second || s.Trouble.Since.Before(left) ||
		time.Until(s.Trouble.Next) > remoteWait || s.Unpushed != 2 {
		t.Errorf("after %s: %+v", away, s)
	}
	if n := strings.Count(h.log.String(), "does not appear to be"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, h.log)
	}
	if err := os.Rename(remote+".away", remote); err != nil {
		t.Fatal(err)
	}
	time.Sleep(remoteWait + time.Second)
	if s := h.Status(); s.Trouble.Kind != KindNone || s.Unpushed != 0 {
		t.Errorf("after it came back: %+v", s)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(told) != 3 || told[0] != KindNone || told[1] != KindNotFound || told[2] != KindNone {
		t.Errorf("told %q", told)
	}
}

// A remote that asks for fewer requests is left alone for at least a minute.
func TestThrottledRemoteIsLeftAlone(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		http.Error(w, "slow down", http.StatusTooManyRequests)
	}))
	defer server.Close()
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t, "a", "")
		remote := server.URL + "/x.git"
		h.Record.opts.shared.Store(&remote)
		h.share.git = carrier.New(nil, h.store, remote, false)
		runFor(t, 10*time.Minute, h)
		if s := h.Status(); s.Trouble.Kind != KindThrottled {
			t.Errorf("status %+v", s.Trouble)
		}
	})
	if asked < 3 || asked > 6 { // after 0, 1, 3 and 7 minutes
		t.Errorf("asked %d times in ten minutes", asked)
	}
}

// Each carrier tells what is wrong with real remotes.
func TestTroubleOfRealRemotes(t *testing.T) {
	t.Parallel()
	answer := func(code int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if code == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Basic")
			}
			w.WriteHeader(code)
		}))
		t.Cleanup(server.Close)
		return server.URL + "/x.git"
	}
	for remote, want := range map[string]Kind{
		answer(http.StatusUnauthorized):        KindAuthentication,
		answer(http.StatusForbidden):           KindPermission,
		answer(http.StatusNotFound):            KindNotFound,
		answer(http.StatusTooManyRequests):     KindThrottled,
		answer(http.StatusInternalServerError): KindUnreachable,
		answer(http.StatusServiceUnavailable):  KindUnreachable,
		"http://127.0.0.1:1/x.git":             KindUnreachable,
		"git://127.0.0.1:1/x.git":              KindUnreachable,
		filepath.Join(t.TempDir(), "nothing"):  KindNotFound,
	} {
		h := newHome(t, "a", "")
		h.Record.opts.shared.Store(&remote)
		for _, builtin := range []bool{false, true} {
			h.share.git = carrier.New(nil, h.store, remote, builtin)
			err := h.share.fetch(t.Context())
			if got := h.contact.fetchTrouble; err == nil || got == nil || got.Kind != want {
				t.Errorf("%T and %s: %v, want kind %s", h.share.git, remote, got, want)
			}
		}
	}
}

func TestHooksWordsAreShown(t *testing.T) {
	t.Parallel()
	t.Run("builtin", testHooksWordsAreShown)
	testHooksWordsAreShown(t)
}

func testHooksWordsAreShown(t *testing.T) {
	remote := bareRemote(t)
	url := remote
	if isBuiltin(t) {
		url = httpRemote(t, remote, "", "")
	}
	h := newHome(t, "a", url)
	hook := filepath.Join(remote, "hooks", "update")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'not on Sundays' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.append(t, testMessage(1, 1))
	if err := h.Sync(t.Context()); err == nil {
		t.Fatal("the hook let it pass")
	}
	s := h.Status()
	if s.Trouble.Kind != KindHook || !s.Trouble.Pushing || !strings.Contains(s.Trouble.Text, "hook declined: not on Sundays") {
		t.Errorf("trouble %+v", s.Trouble)
	}
	if got := h.Place(testPath(1, 1)); got != Recorded {
		t.Errorf("the message is %s", got)
	}
	if h.CanPush() {
		t.Error("it counts as one that can push")
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	h.sync(t)
	if s := h.Status(); s.Trouble.Kind != KindNone || !h.CanPush() {
		t.Errorf("trouble %+v", s.Trouble)
	}
}

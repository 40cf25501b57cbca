package gitsync

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// claimants makes records of several hosts that share one remote. For each host, `at` says how it
// reaches the remote.
func claimants(t *testing.T, count int, at func(i int) (remote string, builtin bool)) []*home {
	t.Helper()
	var all []*home
	for i := range count {
		remote, builtin := at(i)
		h := newHome(t, fmt.Sprintf("host-%d", i), remote)
		h.share.git = carrier.New(nil, h.store, remote, builtin)
		all = append(all, h)
	}
	return all
}

// raceForClaims lets all hosts claim the same names at once, and checks that one host gets each.
func raceForClaims(t *testing.T, hosts []*home, names int) {
	t.Helper()
	won := make([]atomic.Int32, names)
	var racing sync.WaitGroup
	for _, h := range hosts {
		racing.Go(func() {
			for i := range names {
				mine, err := h.Claim(t.Context(), fmt.Sprintf("race-%d", i), "for the race")
				if err != nil {
					t.Errorf("%s: %v", h.opts.Author.Name, err)
				}
				if mine {
					won[i].Add(1)
				}
			}
		})
	}
	racing.Wait()
	for i := range won {
		if n := won[i].Load(); n != 1 {
			t.Errorf("claim %d has %d holders, want 1", i, n)
		}
	}
	held := 0
	for _, h := range hosts {
		mine, err := h.Claims()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range mine {
			if again, err := h.Claim(t.Context(), c.Name, "asked again"); err != nil || !again || c.Text != "for the race" || time.Since(c.Time) > time.Hour {
				t.Errorf("%s lost %+v: %v, %v", h.opts.Author.Name, c, again, err)
			}
		}
		held += len(mine)
	}
	if held != names {
		t.Errorf("%d claims are kept, want %d", held, names)
	}
}

// Several hosts race for claims, by either carrier and by both at once. One of them gets each
// claim.
func TestOneOfManyGetsAClaim(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for name, builtin := range map[string]func(int) bool{
		"git program": func(int) bool { return false },
		"go-git":      func(int) bool { return true },
		"mixed":       func(i int) bool { return i%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			if name != "mixed" { // which has both
				scratch.Long(t)
			}
			remote := bareRemote(t)
			hosts := claimants(t, 8, func(i int) (string, bool) { return remote, builtin(i) })
			raceForClaims(t, hosts, 15)
			gitOut(t, remote, "fsck", "--strict")
			if heads := gitOut(t, remote, "for-each-ref", "--format=%(refname)", "refs/heads"); heads != "refs/heads/main" {
				t.Errorf("the branches are %q", heads)
			}
			clone := filepath.Join(t.TempDir(), "clone")
			gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, clone)
			if refs := gitOut(t, clone, "for-each-ref", "refs/parley"); refs != "" {
				t.Errorf("a clone has claims: %s", refs)
			}
		})
	}
}

func TestClaimsOverHTTP(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	url := strings.Replace(httpRemote(t, remote, "nat", "secret"), "http://", "http://nat:secret@", 1)
	hosts := claimants(t, 4, func(i int) (string, bool) { return url, i%2 == 0 })
	raceForClaims(t, hosts, 4)
	giveUpClaims(t, hosts, remote)
}

func TestClaimsOverSSH(t *testing.T) {
	sshScript(t, `for last; do :; done; exec sh -c "$last"`+"\n") // the git program runs this as ssh
	remote := bareRemote(t)
	at := sshServer(t)
	hosts := claimants(t, 4, func(i int) (string, bool) { return "ssh://git@" + at + filepath.ToSlash(remote), i%2 == 0 })
	raceForClaims(t, hosts, 4)
	giveUpClaims(t, hosts, remote)
}

// giveUpClaims lets all hosts give up what they hold, and checks that it can be claimed again.
func giveUpClaims(t *testing.T, hosts []*home, remote string) {
	t.Helper()
	for _, h := range hosts {
		mine, err := h.Claims()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range mine {
			if err := h.Unclaim(t.Context(), c.Name); err != nil {
				t.Errorf("%s: %v", h.opts.Author.Name, err)
			}
		}
		if left, err := h.Claims(); err != nil || len(left) > 0 {
			t.Errorf("%s keeps %v, %v", h.opts.Author.Name, left, err)
		}
	}
	if left := gitOut(t, remote, "for-each-ref", carrier.ClaimPrefix); left != "" {
		t.Errorf("the remote keeps %s", left)
	}
	for i, h := range hosts {
		if mine, err := h.Claim(t.Context(), "race-0", "again"); err != nil || mine != (i == 0) {
			t.Errorf("claimed again by host %d: %v, %v", i, mine, err)
		}
	}
}

func TestClaimsAreGivenUp(t *testing.T) {
	t.Parallel()
	for _, builtin := range []bool{false, true} {
		t.Run(fmt.Sprintf("builtin=%v", builtin), func(t *testing.T) {
			remote := bareRemote(t)
			hosts := claimants(t, 2, func(int) (string, bool) { return remote, builtin })
			raceForClaims(t, hosts, 3)
			gitOut(t, remote, "pack-refs", "--all")
			giveUpClaims(t, hosts, remote)
			// A claim that somebody else holds meanwhile stays. A host that lost its claim must not
			// give up the claim of another host.
			gitOut(t, remote, "update-ref", "-d", carrier.ClaimPrefix+"race-0")
			if mine, err := hosts[1].Claim(t.Context(), "race-0", "mine now"); err != nil || !mine {
				t.Fatalf("%v, %v", mine, err)
			}
			if err := hosts[0].Unclaim(t.Context(), "race-0"); err != nil {
				t.Error(err)
			}
			if mine, err := hosts[1].Claim(t.Context(), "race-0", ""); err != nil || !mine {
				t.Errorf("it was given up by another host: %v, %v", mine, err)
			}
		})
	}
}

// If the answer to a claim is lost, the host asks about the claim. A claim that stays unclear is an
// error. The claim is this node's when the node asks for it again, also after a crash in between.
func TestAClaimWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for _, builtin := range []bool{false, true} {
		t.Run(fmt.Sprintf("builtin=%v", builtin), func(t *testing.T) {
			remote := bareRemote(t)
			var lost, away atomic.Bool // answers to pushes are lost, and then nothing is answered
			url := brokenHTTP(t, remote, &lost, &away)
			h := claimants(t, 1, func(int) (string, bool) { return url, builtin })[0]
			lost.Store(true)
			if mine, err := h.Claim(t.Context(), "asked", "x"); err != nil || !mine {
				t.Errorf("the answer is lost, and asked for: %v, %v", mine, err)
			}
			away.Store(true)
			if mine, err := h.Claim(t.Context(), "unclear", "x"); err == nil || mine || !errors.Is(err, ErrRemote) {
				t.Errorf("the remote is gone: %v, %v", mine, err)
			}
			if !strings.Contains(gitOut(t, remote, "for-each-ref", carrier.ClaimPrefix), "unclear") {
				t.Error("the remote has not taken what nobody knows of")
			}
			h.close(t)
			h.open(t)
			h.share.git = carrier.New(nil, h.store, url, builtin)
			lost.Store(false)
			away.Store(false)
			if mine, err := h.Claim(t.Context(), "unclear", "x"); err != nil || !mine {
				t.Errorf("asked again: %v, %v", mine, err)
			}
			if refs := gitOut(t, remote, "for-each-ref", "--format=%(refname)", carrier.ClaimPrefix); strings.Count(refs, carrier.ClaimPrefix) != 2 {
				t.Errorf("the remote has %q", refs)
			}
			if all, err := h.Claims(); err != nil || len(all) != 2 {
				t.Errorf("%v, %v", all, err)
			}
		})
	}
}

// brokenHTTP serves a bare repository. While `lost` is set, pushes are carried out and their
// answers are lost. While `away` is set as well, nothing is answered after such a push.
func brokenHTTP(t *testing.T, remote string, lost, away *atomic.Bool) string {
	t.Helper()
	backend := filepath.Join(gitOut(t, t.TempDir(), "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skipf("no git-http-backend here: %v", err)
	}
	handler := &cgi.Handler{Path: backend, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(remote), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=a",
	}}
	var gone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pushing := strings.HasSuffix(r.URL.Path, "git-receive-pack") && r.Method == http.MethodPost
		switch {
		case pushing && lost.Load():
			handler.ServeHTTP(httptest.NewRecorder(), r)
			gone.Store(away.Load())
			panic(http.ErrAbortHandler)
		case gone.Load() && away.Load():
			w.WriteHeader(http.StatusBadGateway)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(remote)
}

func TestNoClaimWithoutARemote(t *testing.T) {
	t.Parallel()
	h := newHome(t, "a", "")
	if mine, err := h.Claim(t.Context(), "x", "y"); mine || !errors.Is(err, ErrNoRemote) || !strings.Contains(err.Error(), "has no remote") {
		t.Errorf("%v, %v", mine, err)
	}
	shared := newHome(t, "b", bareRemote(t))
	for _, name := range []string{"", "../x", "A", "x/y", "x.lock", strings.Repeat("x", 200)} {
		if mine, err := shared.Claim(t.Context(), name, "y"); mine || err == nil {
			t.Errorf("%q: %v, %v", name, mine, err)
		}
	}
}

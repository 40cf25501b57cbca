//go:build !windows

package gitsync

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync/carrier"
)

// A password with everything that a URL, a shell or a format could take for something else.
const (
	hardPassword = "se cret%40$(id)'\"\\n"
	hardInURL    = "se%20cret%2540$%28id%29'%22%5Cn"
)

// TestCredentialsStayOutOfSight prevents that the password of a remote stands in the list of
// processes at every fetch and push, git's helpers included. The password must not stand in a file
// of the record, the log, the status or an error either.
func TestCredentialsStayOutOfSight(t *testing.T) {
	for _, c := range []struct{ name, user, password, login string }{
		{"a password", "nat", hardPassword, "nat:" + hardInURL},
		{"a token in place of the user", "ghp_abcdefgh", "", "ghp_abcdefgh:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			remote := bareRemote(t)
			url := httpRemote(t, remote, c.user, c.password)
			seen := filepath.Join(t.TempDir(), "seen")
			// Git itself tells of every program that it starts, with all words. So does a look at
			// what the system shows of git to others.
			t.Setenv("GIT_TRACE2_EVENT", filepath.Join(t.TempDir(), "events"))
			t.Setenv("GIT_TRACE2_REDACT", "0")
			t.Setenv("HOME", t.TempDir())
			fakeGit(t, "{ echo $0 $*; [ ! -r /proc/$$/cmdline ] || tr '\\0' ' ' </proc/$$/cmdline; } >>"+seen+"\nexec $REAL \"$@\"\n")
			h := newHome(t, "a", strings.Replace(url, "://", "://"+c.login+"@", 1))
			h.append(t, testMessage(1, 1))
			h.sync(t)
			if got := messages(t, remote, "main"); len(got) != 1 {
				t.Errorf("the remote has %q", got)
			}
			h.opts.Remote = h.opts.Remote + "-not"
			h.close(t)
			h.open(t)
			err := h.Sync(t.Context())
			if !errors.Is(err, ErrRemote) {
				t.Errorf("a repository that is not there: %v", err)
			}
			status := h.Status()
			events, _ := os.ReadFile(os.Getenv("GIT_TRACE2_EVENT"))
			words, _ := os.ReadFile(seen)
			if !bytes.Contains(events, []byte("remote-http")) || !bytes.Contains(words, []byte("fetch")) {
				t.Fatalf("nothing was seen of git: %q", words)
			}
			hidden := func(where, text string) {
				for _, form := range []string{hardPassword, hardInURL, "ghp_abcdefgh", c.login} {
					if strings.Contains(text, form) {
						t.Errorf("%s shows %q: %s", where, form, text)
					}
				}
			}
			hidden("the list of processes", string(words))
			hidden("git's own trace", string(events))
			hidden("the error", err.Error())
			hidden("the log", h.log.String())
			hidden("status", status.Remote+status.Trouble.Text)
			err = filepath.WalkDir(h.repo(), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := os.ReadFile(path)
				hidden(path, string(data))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCredentialsGoToTheirServerAlone prevents that the password of a remote is given to another
// server, to which the remote's own server sends git on.
func TestCredentialsGoToTheirServerAlone(t *testing.T) {
	remote := bareRemote(t)
	url := strings.Replace(httpRemote(t, remote, "nat", "secret"), "://", "://nat:secret@", 1)
	t.Setenv("HOME", t.TempDir())
	h := newHome(t, "a", url)
	away := stranger(t)
	redirecting := redirect(t, away.URL)
	h.share.git = carrier.New(nil, h.store, strings.Replace(redirecting, "://", "://nat:secret@", 1), false)
	if err := h.share.git.FetchMain(t.Context()); !errors.Is(err, ErrRemote) {
		t.Errorf("fetch: %v", err)
	}
	if asked, told := away.got(); asked == 0 || told != "" {
		t.Errorf("the other server was asked %d times and told %q", asked, told)
	}
}

// TestPasswordsNotedByEarlierVersionsGo prevents that a password which an earlier version wrote
// into the record's config stays there. The remote without the password must not be taken for
// another remote, because nothing is known of another remote's tip.
func TestPasswordsNotedByEarlierVersionsGo(t *testing.T) {
	remote := bareRemote(t)
	url := strings.Replace(httpRemote(t, remote, "nat", "secret"), "://", "://nat:secret@", 1)
	t.Setenv("HOME", t.TempDir())
	h := newHome(t, "a", url)
	h.close(t)
	gitOut(t, h.repo(), "config", "remote.origin.url", url)
	h.open(t)
	if s := h.Status(); s.RemoteTip == "" || s.Remote != strings.Replace(url, "nat:secret@", "…@", 1) {
		t.Errorf("status %+v", s)
	}
	if got := gitOut(t, h.repo(), "config", "remote.origin.url"); got != strings.Replace(url, "nat:secret@", "", 1) {
		t.Errorf("noted: %s", got)
	}
}

// TestUsersHelpersAreAskedWhereTheURLHasNoPassword prevents that the user's own set-up is passed
// over because of the care for passwords of the URL.
func TestUsersHelpersAreAskedWhereTheURLHasNoPassword(t *testing.T) {
	remote := bareRemote(t)
	url := strings.Replace(httpRemote(t, remote, "nat", "secret"), "://", "://nat@", 1)
	home := t.TempDir()
	t.Setenv("HOME", home)
	writeFile(t, filepath.Join(home, ".gitconfig"), "[credential]\n\thelper = store\n")
	writeFile(t, filepath.Join(home, ".git-credentials"), strings.Replace(strings.TrimSuffix(url, "/remote.git"), "nat@", "nat:secret@", 1)+"\n")
	h := newHome(t, "a", url)
	h.append(t, testMessage(1, 1))
	h.sync(t)
}

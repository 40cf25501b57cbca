//go:build !windows

package gitsync

import (
	"errors"
	"strings"
	"testing"
)

// A git program may end well and have done nothing, or something else.
// TestOnlyAPushThatTheRemoteConfirmsCounts prevents that messages then count as pushed, and the
// journal lets go of them.
func TestOnlyAPushThatTheRemoteConfirmsCounts(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"it says and does nothing", `case " $* " in *" push "*) exit 0;; esac`},
		{"nor does it list anything", `case " $* " in *" push "*|*" ls-remote "*) exit 0;; esac`},
		{"it says it of another branch", `case " $* " in *" push "*) printf ' \t%s:refs/heads/other\ta..b\nDone\n' "${*##* }" | sed 's/:refs.heads.main//'; exit 0;; esac`},
		{"it does not say that it is done", `case " $* " in *" push "*) printf ' \t%s\ta..b\n' "${*##* }"; exit 0;; esac`},
		{"it says that it was refused, and ends well", `case " $* " in *" push "*) printf '!\t%s\t[remote rejected] (no)\nDone\n' "${*##* }"; exit 0;; esac`},
	} {
		t.Run(c.name, func(t *testing.T) {
			remote := bareRemote(t)
			h := newHome(t, "a", remote)
			one := testMessage(1, 1)
			h.append(t, one)
			t.Run("meanwhile", func(t *testing.T) {
				fakeGit(t, c.script+"\nexec $REAL \"$@\"\n")
				if err := h.Sync(t.Context()); !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "said nothing of main") {
					t.Errorf("Sync: %v", err)
				}
			})
			if s := h.Status(); h.Place(one.Path) != Recorded || s.Unpushed != 1 || s.Pushes != 0 || len(h.seen.get(&h.seen.pushed)) != 0 {
				t.Errorf("the message is %s, status %+v", h.Place(one.Path), s)
			}
			h.sync(t)
			if got := messages(t, remote, "main"); h.Place(one.Path) != Pushed || len(got) != 1 {
				t.Errorf("the message is %s, the remote has %q", h.Place(one.Path), got)
			}
		})
	}
}

// TestASilentPushIsLookedFor prevents that a push which the remote has taken counts as failed, only
// because git did not say so in the usual way.
func TestASilentPushIsLookedFor(t *testing.T) {
	h := newHome(t, "a", bareRemote(t))
	fakeGit(t, `case " $* " in *" push "*) exec $REAL "$@" >/dev/null;; esac
exec $REAL "$@"
`)
	one := testMessage(1, 1)
	h.append(t, one)
	h.sync(t)
	if h.Place(one.Path) != Pushed {
		t.Errorf("the message is %s", h.Place(one.Path))
	}
}

// A fetch that failed was called "git -c".
func TestAFailureNamesWhatGitDid(t *testing.T) {
	h := newHome(t, "a", bareRemote(t))
	fakeGit(t, `case " $* " in *" fetch "*) echo boom >&2; exit 1;; esac
exec $REAL "$@"
`)
	if err := h.Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "git fetch: boom") {
		t.Errorf("Fetch: %v", err)
	}
}

// TestASilentFetchIsLookedFor prevents that a fetch which ended well and brought nothing counts as
// a look at the remote.
func TestASilentFetchIsLookedFor(t *testing.T) {
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	one := testMessage(2, 1)
	b.append(t, one)
	b.sync(t)
	t.Run("it brings nothing", func(t *testing.T) {
		fakeGit(t, `case " $* " in *" fetch "*) exit 0;; esac
exec $REAL "$@"
`)
		if err := a.Fetch(t.Context()); !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "brought nothing") {
			t.Errorf("Fetch: %v", err)
		}
	})
	t.Run("it only says nothing", func(t *testing.T) {
		fakeGit(t, `case " $* " in *" fetch "*) exec $REAL "$@" 2>/dev/null;; esac
exec $REAL "$@"
`)
		if err := a.Fetch(t.Context()); err != nil {
			t.Errorf("Fetch: %v", err)
		}
	})
	if a.Place(one.Path) != Pushed {
		t.Errorf("the message is %s", a.Place(one.Path))
	}
}

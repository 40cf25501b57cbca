package gitsync

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// vandal works on a clone of the remote and pushes what it did.
type vandal struct {
	t             *testing.T
	remote, clone string
}

func newVandal(t *testing.T, remote string) *vandal {
	v := &vandal{t: t, remote: remote, clone: filepath.Join(t.TempDir(), "clone")}
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, v.clone)
	return v
}

func (v *vandal) push(args ...string) {
	v.t.Helper()
	gitOut(v.t, v.clone, "add", "-A")
	gitOut(v.t, v.clone, "commit", "--quiet", "--allow-empty", "-m", "vandal")
	gitOut(v.t, v.clone, append([]string{"push", "--quiet"}, args...)...)
}

func (v *vandal) file(l MessageFile) string { return filepath.Join(v.clone, l.Path.RepoPath()) }

func (v *vandal) remove(path string) {
	v.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		v.t.Fatal(err)
	}
}

// Whatever somebody does to the messages of the remote, each is there again, under its path and
// with its bytes. This holds though two hosts notice at the same time. Both are told what was done.
// It prevents: loss by the right to push.
func TestWhateverIsDoneToTheRemote(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	if scratch.Longer() {
		t.Run("builtin", testWhateverIsDoneToTheRemote)
	}
	testWhateverIsDoneToTheRemote(t)
}

func testWhateverIsDoneToTheRemote(t *testing.T) {
	one, two := testMessage(1, 1), testMessage(2, 2)
	other := append([]byte(nil), one.Data...)
	other = append(other, "and more\n"...)
	for _, c := range []struct {
		name  string
		do    func(v *vandal)
		says  []string
		keeps []byte // another version of one
	}{
		{"rewritten", func(v *vandal) {
			gitOut(v.t, v.clone, "reset", "--quiet", "--hard", gitOut(v.t, v.clone, "rev-list", "--max-parents=0", "main"))
			v.push("--force")
		}, []string{"was rewritten from ", "operator", "removed", one.Path.String(), "put back"}, nil},
		{"set back", func(v *vandal) {
			gitOut(v.t, v.remote, "update-ref", carrier.MainRef, gitOut(v.t, v.clone, "rev-list", "--max-parents=0", "main"))
		}, []string{"was rewritten from ", one.Path.String(), "put back"}, nil},
		{"main deleted", func(v *vandal) {
			gitOut(v.t, v.remote, "update-ref", "-d", carrier.MainRef)
		}, []string{"main is gone", "pushed again"}, nil},
		{"emptied", func(v *vandal) {
			v.remove(v.remote)
			gitOut(v.t, v.t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", v.remote)
		}, []string{"main is gone", "pushed again"}, nil},
		{"removed", func(v *vandal) {
			v.remove(v.file(one))
			v.push()
		}, []string{"commit ", " of operator removed ", one.Path.String(), "put back"}, nil},
		{"removed, then more", func(v *vandal) {
			v.remove(v.file(one))
			v.push()
			writeFile(v.t, filepath.Join(v.clone, "README.md"), "another commit\n")
			v.push()
		}, []string{" of operator removed ", one.Path.String()}, nil},
		{"changed", func(v *vandal) {
			writeFile(v.t, v.file(one), string(other))
			v.push()
		}, []string{" of operator changed ", one.Path.String(), conflictsPrefix}, other},
		{"a folder in its place", func(v *vandal) {
			v.remove(v.file(one))
			writeFile(v.t, filepath.Join(v.file(one), "x"), "x\n")
			v.push()
		}, []string{" of operator removed ", one.Path.String()}, nil},
		{"a link in its place", func(v *vandal) {
			v.remove(v.file(one))
			if err := os.Symlink("x", v.file(one)); err != nil {
				v.t.Skip(err)
			}
			v.push()
		}, []string{" of operator removed ", one.Path.String()}, nil},
	} {
		if isBuiltin(t) && !slices.Contains([]string{"rewritten", "emptied", "removed", "changed"}, c.name) {
			continue // the other cases differ in the remote, not in how it is reached
		}
		t.Run(c.name, func(t *testing.T) {
			remote := bareRemote(t)
			a, b := newHome(t, "a", remote), newHome(t, "b", remote)
			for _, h := range []*home{a, b} {
				h.main.opts.Prefer = preferOf(one, two)
			}
			a.append(t, one)
			a.sync(t)
			b.append(t, two)
			b.sync(t)
			a.sync(t)
			c.do(newVandal(t, remote))
			var both sync.WaitGroup
			for _, h := range []*home{a, b} {
				both.Go(func() {
					if err := h.Sync(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			a.sync(t)
			b.sync(t)
			wantSame(t, "messages", messages(t, remote, "main"), paths(one, two))
			for _, l := range []MessageFile{one, two} {
				if got := gitOut(t, remote, "show", "main:"+l.Path.RepoPath()); got != strings.TrimSpace(string(l.Data)) {
					t.Errorf("%s is %q", l.Path, got)
				}
			}
			if c.keeps != nil {
				if got := gitOut(t, remote, "show", "main:"+conflictPath(one.Path.String(), c.keeps)); got != strings.TrimSpace(string(c.keeps)) {
					t.Errorf("the other version is kept as %q", got)
				}
			}
			if a.Tip() != b.Tip() || a.Status().Unpushed+b.Status().Unpushed > 0 {
				t.Errorf("the hosts differ: %+v and %+v", a.Status(), b.Status())
			}
			told := a.log.String() + b.log.String()
			for _, word := range c.says {
				if !strings.Contains(told, word) {
					t.Errorf("nobody is told %q:\n%s", word, told)
				}
			}
			wantClean(t, remote)
		})
	}
}

// preferOf returns a rule by which these messages win their paths, as signed ones do.
func preferOf(messages ...MessageFile) func(protocol.Path, []byte, []byte) bool {
	return func(p protocol.Path, a, b []byte) bool {
		for _, l := range messages {
			if l.Path == p {
				return string(a) == string(l.Data) || string(b) != string(l.Data) && lowerHash(p, a, b)
			}
		}
		return lowerHash(p, a, b)
	}
}

// A message that only a third host fetched before the remote lost it comes back from this host, to
// the remote and to the others.
func TestAThirdHostPutsBackWhatOnlyItHas(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, b, c := newHome(t, "a", remote), newHome(t, "b", remote), newHome(t, "c", remote)
	before := gitOut(t, remote, "rev-parse", "main")
	message := testMessage(7, 7)
	v := newVandal(t, remote)
	writeFile(t, v.file(message), string(message.Data))
	v.push()
	c.sync(t)
	gitOut(t, remote, "update-ref", carrier.MainRef, before)
	a.append(t, testMessage(1, 1))
	a.sync(t)
	b.sync(t)
	if a.Place(message.Path) != Absent || b.Place(message.Path) != Absent {
		t.Fatal("the others have seen it")
	}
	c.sync(t)
	a.sync(t)
	b.sync(t)
	for _, h := range []*home{a, b, c} {
		if got := h.Place(message.Path); got != Pushed {
			t.Errorf("at %s it is %s", h.opts.Author.Name, got)
		}
	}
	wantSame(t, "messages", messages(t, remote, "main"), paths(testMessage(1, 1), message))
}

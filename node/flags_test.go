package node

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Somebody who may push brings wrong files: a signed message at another path, in another channel,
// with other bytes at its own path and at a new path; mail with other bytes; a second message of
// one number; and something that is no message. Each is counted by its kind and named by verify: on
// hosts that were there, also after a start, and on a host that joins afterwards. It prevents:
// something wrong in the record of which only one host tells, or none.
func TestWhatIsWrongInTheRecordIsCountedAlike(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	second := initHome(t, func(o *homes.Options) { o.Remote, o.Alias, o.Human = remote, "black", "eve" })
	fastFetch(t, home)
	fastFetch(t, second)
	n, _ := runNode(t, home)
	other, stop := runNode(t, second)
	g := newGhost(t, n, "white")
	join, one := g.join("alice"), g.say("alice", "one")
	twin := *g
	twin.now = g.now.Add(time.Millisecond) // its message is the later one
	two := g.say("alice", "two")
	another := twin.say("alice", "another two")
	clone := cloneOf(t, remote)
	for _, l := range []gitsync.MessageFile{join, one, two} {
		writeInto(t, clone, l.Path, l.Data)
	}
	mail := plainMail(t, clone, "aaaaaaaa-0000-4000-8000-000000000001", "20260523T190100000", "eve", "nat", "hello")
	push(t, clone)
	for _, n := range []*Node{n, other} {
		awaitHas(t, n, two.Path)
		awaitHas(t, n, mail)
	}

	forged := bytes.Replace(two.Data, []byte("two"), []byte("six"), 1)
	elsewhere := protocol.NewPath(protocol.NewChannelID([16]byte{7}), one.Path.Time(), 1)
	beside, new, none := protocol.NewPath(one.Path.Channel(), one.Path.Time(), 1), protocol.NewPath(one.Path.Channel(), one.Path.Time(), 2),
		protocol.NewPath(one.Path.Channel(), one.Path.Time(), 3)
	writeInto(t, clone, elsewhere, one.Data)
	writeInto(t, clone, beside, one.Data)
	writeInto(t, clone, new, forged)
	writeInto(t, clone, two.Path, forged)
	writeInto(t, clone, none, []byte("garbage\n"))
	writeInto(t, clone, mail, []byte("---\nfrom: eve\nto: nat\ntype: text\ntimestamp: 2026-05-23T19:01:00.000Z\n---\n\nhowdy\n"))
	writeInto(t, clone, another.Path, another.Data)
	pushAll(t, clone)
	eventually(t, "what was changed is put right on the remote", func() bool { return shown(t, remote, two.Path.RepoPath()) == string(two.Data) })
	awaitHas(t, n, another.Path)
	awaitHas(t, other, another.Path)

	late, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote, o.Alias, o.Human = remote, "late", "cat" }))
	want := []control.Flag{{Kind: "conflict", Count: 1}, {Kind: "fork", Count: 1}, {Kind: "replay", Count: 2}, {Kind: "signature", Count: 2},
		{Kind: "unreadable", Count: 1}}
	counted := func(n *Node) {
		t.Helper()
		eventually(t, n.cfg.Alias.String()+" counts all of it", func() bool {
			s, err := control.ShowStatus.Ask(t.Context(), n)
			return err == nil && slices.Equal(s.Flags, want)
		})
	}
	counted(other)
	stop()
	again, _ := runNode(t, second)
	for _, n := range []*Node{n, again, late} {
		counted(n)
		verified(t, n, map[protocol.Path]string{
			elsewhere: "it is a copy of " + one.Path.String(), beside: "it is a copy of " + one.Path.String(),
			new: "it is refused", two.Path: "it is refused", none: "it is no message", another.Path: "the same place in the chain of white",
		})
		if has(n, elsewhere) || has(n, beside) || has(n, new) || !has(n, two.Path) {
			t.Errorf("on %s what is refused is there, or what is right is not", n.cfg.Alias)
		}
	}
}

// writeInto puts a message's file into a clone of the shared repository.
func writeInto(t *testing.T, clone string, p protocol.Path, data []byte) {
	t.Helper()
	file := filepath.Join(clone, filepath.FromSlash(p.RepoPath()))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// pushAll commits and pushes what was written into a clone.
func pushAll(t *testing.T, clone string) {
	t.Helper()
	git(t, clone, "add", "--all")
	git(t, clone, "commit", "--quiet", "-m", "edit")
	push(t, clone)
}

// verified checks that record verify calls each of these paths wrong, in these words.
func verified(t *testing.T, n *Node, words map[protocol.Path]string) {
	t.Helper()
	v, err := n.audits.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for p, says := range words {
		if !slices.ContainsFunc(v.Findings, func(f control.Finding) bool { return f.Path == p && f.Wrong && strings.Contains(f.Text, says) }) {
			t.Errorf("%s: verify does not say %q of %s: %+v", n.cfg.Alias, says, p, v.Findings)
		}
	}
}

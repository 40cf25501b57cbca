package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// A vouch that cannot be stored is tried again later. It prevents: a disk is full for a moment,
// after which the founder vouches for a new host only when it is started anew.
func TestVouchThatFailsIsTriedAgain(t *testing.T) {
	n, stop := runNode(t, initHome(t, nil))
	g := newGhost(t, n, "white")
	stop() // nothing can be stored from now on
	join := g.join("alice")
	if _, err := n.state.Apply(join.Path, join.Data); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if next := n.hosts.Keys.Vouch(t.Context()); next >= time.Minute {
			t.Errorf("it is tried again after %s", next)
		}
	}
}

// forgedJoin returns a join to an alias with a key of somebody who may push, dated long before the
// honest join.
func forgedJoin(t *testing.T, recordID, alias string, at time.Time) (protocol.Path, []byte) {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	host := protocol.Name(alias)
	m := protocol.Message{
		Path: protocol.NewPath(protocol.SystemChannel(recordID), at, 7), From: alias, To: []protocol.Address{{Name: alias}},
		Type: protocol.TypeText, Timestamp: at, Act: protocol.ActHostJoin, Host: host, Run: "0badcafe", Seq: 1,
		Body: protocol.FormatHost(protocol.ActHostJoin, protocol.HostState{Host: host, Key: public, Humans: []protocol.Name{"mallory"}}),
	}
	data, err := protocol.Sign(&m, recordID, key)
	if err != nil {
		t.Fatal(err)
	}
	return m.Path, data
}

// pushFile brings a file to the shared repository. Anybody who can push may do that.
func pushFile(t *testing.T, clone, path string, data []byte) {
	t.Helper()
	git(t, clone, "pull", "--quiet", "--rebase")
	file := filepath.Join(clone, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "add", path)
	git(t, clone, "commit", "--quiet", "-m", "edit")
	push(t, clone)
}

// Nobody takes an alias over by pushing a join with an older date: neither the founder's alias, nor
// that of a host that the founder has seen. This holds on hosts that are there and on a host that
// joins later.
func TestBackdatedJoinTakesNothing(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	remote := bareRemote(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote = remote }))
	white := initHome(t, func(o *homes.Options) { o.Remote, o.Alias, o.Human = remote, "white", "eve" })
	key, err := homes.HostKey(white)
	if err != nil {
		t.Fatal(err)
	}
	want, err := key.Pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	n.record.Ring()
	eventually(t, "the founder vouches for white", func() bool {
		return n.reading(func() bool {
			_, joined := n.state.Keys().Host("white")
			return joined && len(n.state.Keys().Unvouched("oracle-world")) == 0
		})
	})
	clone := cloneOf(t, remote)
	eventually(t, "its word is pushed", func() bool { s := n.record.Status(); return s.Unpushed+s.Unrecorded == 0 })
	for i, alias := range []string{"white", "oracle-world"} {
		p, data := forgedJoin(t, n.record.ID(), alias, time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC))
		pushFile(t, clone, p.RepoPath(), data)
	}
	n.record.Ring()
	eventually(t, "both joins are refused and named", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		return err == nil && len(slices.DeleteFunc(s.Warned, func(w string) bool { return !strings.Contains(w, "it joins as") })) == 2
	})
	late, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote, o.Alias, o.Human = remote, "late", "cat" }))
	for _, n := range []*Node{n, late} {
		if !n.reading(func() bool {
			h, _ := n.state.Keys().Host("white")
			return h.Key == want && !slices.Contains(h.Humans, "mallory")
		}) {
			t.Errorf("%s: white has another key", n.cfg.Alias)
		}
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || !slices.Contains(s.Flags, control.Flag{Kind: "lost-join", Count: 2}) {
			t.Errorf("%s: the flags are %v, %v; want two lost joins", n.cfg.Alias, s.Flags, err)
		}
		v, err := n.audits.Verify(t.Context())
		if err != nil || v.Wrong != 2 {
			t.Errorf("%s: verify finds %+v, %v; want the two joins", n.cfg.Alias, v.Findings, err)
		}
	}
}

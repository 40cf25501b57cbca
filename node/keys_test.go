package node

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// rotated gives a node's host a new key.
func rotated(t *testing.T, n *Node, overlap time.Duration) control.Rotation {
	t.Helper()
	r, err := control.RotateKey.Ask(t.Context(), n, control.RotateRequest{Overlap: overlap, Phrase: control.RotatePhrase(n.cfg.Alias)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// signatureOn is how a node judges a message, "" while the node does not have it.
func signatureOn(n *Node, p protocol.Path) (s protocol.Signature) {
	n.reading(func() bool {
		if it, ok := n.state.Ledger.Item(p); ok {
			s = n.state.Signature(it)
		}
		return true
	})
	return s
}

// awaitClean waits until verify finds nothing wrong on any of the nodes.
func awaitClean(t *testing.T, nodes ...*Node) {
	t.Helper()
	for _, n := range nodes {
		eventually(t, "verify finds nothing wrong on "+n.cfg.Alias.String(), func() bool {
			v, err := n.audits.Verify(t.Context())
			if err == nil && v.Wrong > 0 {
				t.Log(v.Findings)
			}
			return err == nil && v.Wrong == 0
		})
	}
}

// A running host changes its key. What it wrote before and what it writes after are valid on both
// hosts. The link comes back with the new key, and the chain goes on.
func TestRotateWhileRunning(t *testing.T) {
	t.Parallel()
	a, b := linkedPair(t)
	before := say(t, b, "nat", "before")
	r := rotated(t, b, time.Hour)
	if b.signsWith.Load().Public != r.Key || r.Old == r.Key || !strings.HasPrefix(r.Fingerprint, "SHA256:") {
		t.Fatalf("rotated: %+v, signing with %s", r, b.signsWith.Load().Public)
	}
	after := say(t, b, "nat", "after")
	for _, p := range []protocol.Path{before.Path, after.Path} {
		eventually(t, "the other host takes it as signed", func() bool { return signatureOn(a, p) == protocol.SignatureValid })
	}
	awaitMeeting(t, a, b)
	eventually(t, "a message is heard over the link with the new key", func() bool {
		m, err := control.Send.Ask(t.Context(), b, control.SendRequest{To: []string{"nat"}, Body: "heard?", HeardWithin: time.Second})
		return err == nil && slices.Contains(m.Heard, a.cfg.Alias)
	})
	for _, n := range []*Node{a, b} {
		h, err := control.ShowHost.Ask(t.Context(), n, control.HostRequest{Alias: b.cfg.Alias.String()})
		if err != nil || h.Key != r.Key || len(h.Keys) != 2 || h.Keys[0].Key != r.Old || !h.Keys[0].Until.Equal(r.Until) {
			t.Errorf("on %s: %+v, %v, want %+v", n.cfg.Alias, h, err, r)
		}
	}
	awaitClean(t, a, b)
}

// The seeds of all keys are kept, and are private. A new start signs with the last key.
func TestKeysAreKept(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	first, second := rotated(t, n, 0), rotated(t, n, time.Hour)
	say(t, n, "all", "x")
	stop()
	for _, key := range []string{first.Old, first.Key, second.Key} {
		info, err := os.Stat(homes.SeedFile(home, key))
		if err != nil || info.Mode() != fs.FileMode(0o600) || !homes.HasSeed(home, key) {
			t.Errorf("%s: %v, %v", key, info, err)
		}
	}
	n, _ = runNode(t, home)
	if n.signsWith.Load().Public != second.Key {
		t.Errorf("the new start signs with %s, want %s", n.signsWith.Load().Public, second.Key)
	}
	awaitClean(t, n)
}

// A crash before the record has the new key leaves the old key. A rotation that crashes before the
// home has the new key is completed at the next start.
func TestRotationThatWasCutShort(t *testing.T) {
	home := initHome(t, nil)
	orphan, err := homes.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := orphan.Keep(home); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(home.HostKey())
	if err != nil {
		t.Fatal(err)
	}
	n, stop := runNode(t, home)
	if n.signsWith.Load().Public == orphan.Public {
		t.Fatal("it signs with a key of which nobody was told")
	}
	r := rotated(t, n, 0)
	stop()
	if err := os.WriteFile(home.HostKey(), old, 0o600); err != nil {
		t.Fatal(err)
	}
	n, _ = runNode(t, home)
	if own, err := homes.HostKey(home); n.signsWith.Load().Public != r.Key || err != nil || own.Public != r.Key {
		t.Errorf("it signs with %s, want %s; %v", n.signsWith.Load().Public, r.Key, err)
	}
	m := say(t, n, "all", "x")
	if s := signatureOn(n, m.Path); s != protocol.SignatureValid {
		t.Errorf("what it writes is %s", s)
	}
	awaitClean(t, n)
}

// A host that revokes the key that it had before lets in what it wrote itself, and nothing of a
// thief who wrote at the same time. The change of the key alone accuses nobody of whom the host knew:
// it only refuses what comes afterwards, whatever its date.
func TestOldKeyIsRevokedWithoutTheThief(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	own := say(t, n, "all", "own")
	thief := newGhost(t, n, n.cfg.Alias)
	thief.key, thief.now = n.signsWith.Load().Pair, own.Timestamp.Add(time.Second) // if the thief were earlier, this host would have to stay out
	n.reading(func() bool {
		it, _ := n.state.Ledger.Item(own.Path)
		thief.head.Prev = it.Hash
		return true
	})
	theirs := thief.say("nat", "the thief's")
	n.Receive([]gitsync.MessageFile{theirs}, byGit)
	r := rotated(t, n, time.Hour)
	late := thief.say("nat", "dated back")
	n.Receive([]gitsync.MessageFile{late}, byGit)
	if s := signatureOn(n, late.Path); s != protocol.SignatureRefused {
		t.Errorf("what the thief dates back is %s", s)
	}
	if s := signatureOn(n, theirs.Path); s != protocol.SignatureValid {
		t.Fatalf("before the revocation the thief's word is %q: the test shows nothing", s)
	}
	done, err := control.RevokeKey.Ask(t.Context(), n, control.RevokeRequest{Host: n.cfg.Alias, Key: r.Old, Phrase: control.RevokePhrase(n.cfg.Alias)})
	if err != nil || done.Later != 1 || done.Forks != 0 || done.Out {
		t.Errorf("revoked: %+v, %v", done, err)
	}
	for p, want := range map[protocol.Path]protocol.Signature{own.Path: protocol.SignatureValid, theirs.Path: protocol.SignatureRefused} {
		if s := signatureOn(n, p); s != want {
			t.Errorf("%s is %s, want %s", p, s, want)
		}
	}
}

// The founder's human has a host's key revoked. The host loses its link and ends. Its later mail is
// refused on hosts that are there, and on a host that joins afterwards.
func TestRevokedHostIsOut(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote, o.Listen = remote, "127.0.0.1:0" }))
	home := initHome(t, func(o *homes.Options) {
		o.Remote, o.Alias, o.Human, o.Hubs = remote, "white", "eve", []string{"oracle-world@" + a.currentBus().Addresses().Links}
	})
	b, ended := runToItsEnd(t, home)
	awaitMeeting(t, a, b)
	before := say(t, b, "nat", "before")
	eventually(t, "it has arrived", func() bool { return signatureOn(a, before.Path) == protocol.SignatureValid })

	if _, err := control.RevokeKey.Ask(t.Context(), b, control.RevokeRequest{Host: "oracle-world", Try: true}); err == nil {
		t.Error("white may revoke a key of the founder")
	}
	plan, err := control.RevokeKey.Ask(t.Context(), a, control.RevokeRequest{Host: "white", Try: true})
	if err != nil || !plan.Out || plan.Later != 0 || plan.Runs == 0 || !plan.Path.IsZero() {
		t.Fatalf("tried: %+v, %v", plan, err)
	}
	if _, err := control.RevokeKey.Ask(t.Context(), a, control.RevokeRequest{Host: "white", Phrase: "revoke white"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the revocation is pushed", func() bool { s := a.record.Status(); return s.Unpushed+s.Unrecorded == 0 })
	b.record.Ring() // its link may be gone before it has heard
	if err := awaited(t, "the end of the node", ended); err == nil || !strings.Contains(err.Error(), "revoked by nat at oracle-world") {
		t.Errorf("the revoked host ended with: %v", err)
	}
	eventually(t, "its link is gone", func() bool { return len(a.currentBus().Links()) == 0 })
	late := lateWord(t, b)
	late.Peer = false
	c, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote, o.Alias, o.Human = remote, "black", "cat" }))
	for _, n := range []*Node{a, c} {
		n.Receive([]gitsync.MessageFile{late}, byGit)
		if s := signatureOn(n, before.Path); s != protocol.SignatureValid {
			t.Errorf("on %s what it wrote before is %s", n.cfg.Alias, s)
		}
		if s := signatureOn(n, late.Path); s != protocol.SignatureRefused {
			t.Errorf("on %s what it writes afterwards is %q", n.cfg.Alias, s)
		}
		h, err := control.ShowHost.Ask(t.Context(), n, control.HostRequest{Alias: "white"})
		if err != nil || h.State != control.HostRevoked {
			t.Errorf("on %s it is %s, %v", n.cfg.Alias, h.State, err)
		}
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || !slices.Contains(s.Flags, control.Flag{Kind: "revoked", Count: 1}) {
			t.Errorf("on %s the flags are %v, %v", n.cfg.Alias, s.Flags, err)
		}
		if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"white:eve"}, Body: "hi"}); err == nil {
			t.Errorf("%s can write to it", n.cfg.Alias)
		}
	}
	n, err := Open(t.Context(), Options{Home: home, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.hosts.Own.Publish(t.Context()); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("the next start says %v", err)
	}
}

// runToItsEnd runs a node that is expected to end by itself.
func runToItsEnd(t *testing.T, home configs.Home) (*Node, <-chan error) {
	t.Helper()
	n, err := Open(t.Context(), Options{Home: home, Version: "test", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { // ends with the node
		defer cancel()
		err := n.Run(ctx, func() { close(ready) })
		if closing := n.Close(); err == nil {
			err = closing
		}
		ended <- err
	}()
	awaited(t, "the node to be up", ready)
	return n, ended
}

// lateWord returns what a thief of a host's key writes, with an older date.
func lateWord(t *testing.T, n *Node) gitsync.MessageFile {
	t.Helper()
	g := newGhost(t, n, n.cfg.Alias)
	g.key, g.now = n.signsWith.Load().Pair, time.Now().Add(-24*time.Hour)
	return g.say("eve", "with an older date")
}

// Somebody who has stolen a key may sign in so many runs that no message can name all of them. The
// key can still be revoked: the message that its host wrote last is named.
func TestKeyThatSignedInTooManyRunsIsRevoked(t *testing.T) {
	home := initHome(t, nil)
	config := filepath.Join(home.Dir, "config.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, bytes.Replace(text, []byte("message_limit: 512KiB"), []byte("message_limit: 20KiB"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	n, _ := runNode(t, home)
	g := newGhost(t, n, "gone")
	messages := []gitsync.MessageFile{g.join("alice"), g.say("alice", "the last word")}
	own := messages[1].Path
	for range 200 {
		g.head.Run, g.head.Seq = random.Hex(4), 0
		messages = append(messages, g.say("alice", "the thief's"))
	}
	n.Receive(messages, byGit)
	if done, err := control.RevokeKey.Ask(t.Context(), n, control.RevokeRequest{Host: "gone"}); err == nil || !strings.Contains(err.Error(), "one message can name") {
		t.Errorf("without a last message: %+v, %v", done, err)
	}
	if done, err := control.RevokeKey.Ask(t.Context(), n, control.RevokeRequest{Host: "gone", After: own.String(), Phrase: "revoke gone"}); err != nil || done.Later != 200 || done.Runs != 1 {
		t.Errorf("with it: %+v, %v", done, err)
	}
	// A slip would leave out all that the host wrote: the user names a message that counts for
	// nothing.
	if done, err := control.RevokeKey.Ask(t.Context(), n, control.RevokeRequest{Host: "gone", After: messages[9].Path.String()}); err == nil || !strings.Contains(err.Error(), "counts for nothing itself") {
		t.Errorf("after a refused one: %+v, %v", done, err)
	}
}

// A revocation may let mail in only once what stands behind it is here. The mail is run when that
// has come. It prevents: mail that counts, and waits for the next start.
func TestMailThatComesToCountIsRun(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addExec(t, n, "echo", "git hash-object --stdin")
	g := newGhost(t, n, "gone")
	all := g.words(2)
	n.Receive(all[:1], byBus)
	last, err := protocol.Decode(all[2].Path, all[2].Data)
	if err != nil {
		t.Fatal(err)
	}
	key, err := g.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	end := protocol.RunEnd{Run: last.Run, Seq: last.Seq, Hash: protocol.Hash(all[2].Data)}
	if _, err := n.decider.Act(t.Context(), fleet.Revoke{By: n.cfg.Alias, Human: "nat", Of: protocol.HostKey{Host: "gone", Key: key}, Last: []protocol.RunEnd{end}}, protocol.Path{}); err != nil {
		t.Fatal(err)
	}
	n.Receive(all[1:2], byBus)
	if s := signatureOn(n, all[1].Path); s != protocol.SignatureRefused {
		t.Fatalf("before what follows it has come it is %q: the test shows nothing", s)
	}
	n.Receive(all[2:], byBus)
	for _, l := range all[1:] {
		answerTo(t, n, l.Path)
	}
}

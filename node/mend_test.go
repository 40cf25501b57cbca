package node

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// linkedPair runs two nodes on one remote. The second is linked to the first.
func linkedPair(t testing.TB) (a, b *Node) {
	t.Helper()
	remote := bareRemote(t)
	a, _ = runNode(t, initHome(t, func(o *homes.Options) { o.Remote, o.Listen = remote, "127.0.0.1:0" }))
	b, _ = runNode(t, initHome(t, func(o *homes.Options) {
		o.Remote, o.Alias, o.Hubs = remote, "white", []string{a.currentBus().Addresses().Links}
	}))
	awaitMeeting(t, a, b)
	return a, b
}

// awaitMeeting waits until two nodes are live to each other.
func awaitMeeting(t testing.TB, a, b *Node) {
	t.Helper()
	eventually(t, "the hosts are live to each other", func() bool {
		_, there := a.live.PresenceOf(b.cfg.Alias)
		_, here := b.live.PresenceOf(a.cfg.Alias)
		return there && here
	})
}

// words returns a host's join and that many messages.
func (g *ghost) words(count int) []gitsync.MessageFile {
	g.t.Helper()
	messages := []gitsync.MessageFile{g.join("alice")}
	for i := range count {
		messages = append(messages, g.say("alice", fmt.Sprint("word ", i)))
	}
	return messages
}

// hear gives a node messages as the bus does.
func hear(t testing.TB, n *Node, messages []gitsync.MessageFile) {
	t.Helper()
	var in []bus.Incoming
	for _, l := range messages {
		in = append(in, onBus(t, n, l))
	}
	n.entry.LetIn(in)
}

func awaitAll(t testing.TB, n *Node, messages []gitsync.MessageFile) {
	t.Helper()
	eventually(t, "all messages are there", func() bool {
		return !slices.ContainsFunc(messages, func(l gitsync.MessageFile) bool { return !has(n, l.Path) })
	})
	for _, l := range messages {
		if data, err := n.record.Get(l.Path); err != nil || protocol.Hash(data) != protocol.Hash(l.Data) {
			t.Errorf("%s is not stored as it was written: %v", l.Path, err)
		}
	}
}

// A message that the bus lost, of a host that never comes back, is had from any other host that
// heard it. It prevents: holes that stay until somebody commits.
func TestHoleIsFilledByWhoeverHeardIt(t *testing.T) {
	t.Parallel()
	a, b := linkedPair(t)
	g := newGhost(t, a, "gone")
	all := g.words(30)
	a.Receive(all[:1], byBus)
	hear(t, a, all[1:])
	b.Receive(all[:1], byBus)
	hear(t, b, slices.Concat(all[1:4], all[25:26], all[28:]))
	awaitAll(t, b, all)
	if open, _, givenUp := b.mender.Counts(); givenUp > 0 {
		t.Errorf("%d holes are open, %d were given up", open, givenUp)
	}
}

// A chain has more holes than are remembered, and nothing follows. It prevents: holes of a burst that
// stay until git brings the messages, here with the remote out of reach.
func TestManyHolesOfOneChainAreFilled(t *testing.T) {
	t.Parallel()
	a, b := linkedPair(t)
	g := newGhost(t, a, "gone")
	all := g.words(60)
	if err := os.Rename(a.cfg.Remote, a.cfg.Remote+"-away"); err != nil {
		t.Fatal(err)
	}
	a.Receive(all[:1], byBus)
	hear(t, a, all[1:])
	b.Receive(all[:1], byBus)
	heard := slices.Clone(all[1:2])
	for i := 3; i < len(all); i += 2 {
		heard = append(heard, all[i])
	}
	hear(t, b, heard)
	awaitAll(t, b, all[:len(all)-1])
}

// Messages that a revocation lets in and that are not here are asked for, and let in. It prevents:
// the last messages of a host, and with them all before, are refused until git brings them.
func TestRevocationAsksForWhatItLeavesIn(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	a, b := linkedPair(t)
	g := newGhost(t, a, "gone")
	all := g.words(10)
	a.Receive(all[:1], byBus)
	hear(t, a, all[1:])
	b.Receive(all[:1], byBus)
	hear(t, b, all[1:4])
	if _, err := control.RevokeKey.Ask(t.Context(), a, control.RevokeRequest{Host: "gone", Phrase: "revoke gone"}); err != nil {
		t.Fatal(err)
	}
	awaitAll(t, b, all)
	for _, l := range all {
		if s := signatureOn(b, l.Path); s == protocol.SignatureRefused {
			t.Errorf("%s is refused", l.Path)
		}
	}
}

// A host that links up later does not miss the last message before a silence, although nothing
// follows this message and its host is gone.
func TestHeadLetterTellsOfTheLastMessage(t *testing.T) {
	t.Parallel()
	a, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Listen, o.Remote = "127.0.0.1:0", bareRemote(t) }))
	g := newGhost(t, a, "gone")
	all := g.words(5)
	a.Receive(all[:1], byBus)
	hear(t, a, all[1:])
	b, _ := runNode(t, initHome(t, func(o *homes.Options) {
		o.Remote, o.Alias, o.Hubs = a.cfg.Remote, "white", []string{a.currentBus().Addresses().Links}
	}))
	b.Receive(all[:1], byBus)
	awaitAll(t, b, all)
}

// A burst that is more than the receiver can queue arrives whole and once, with the remote out of
// reach. What the bus dropped is asked for again.
func TestDroppedBurstIsRepairedWithoutTheRemote(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	total, room := 1600, 30_000
	if os.Getenv("PARLEY_SOAK") != "" {
		total, room = 50_000, 1<<20
	}
	remote := bareRemote(t)
	a, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote, o.Listen = remote, "127.0.0.1:0" }))
	home := initHome(t, func(o *homes.Options) {
		o.Remote, o.Alias, o.Hubs = remote, "white", []string{a.currentBus().Addresses().Links}
	})
	b, _ := runNodeWith(t, Options{Home: home, Version: "test", queueBytes: room, builtin: true})
	awaitMeeting(t, a, b)
	if err := os.Rename(remote, remote+"-away"); err != nil {
		t.Fatal(err)
	}
	before := size(a)
	queue := b.currentBus()
	b.mu.Lock() // until the queue overflows: the speed of the two hosts does not matter
	goOn := sync.OnceFunc(b.mu.Unlock)
	t.Cleanup(goOn)
	var sending sync.WaitGroup
	for w := range 16 {
		sending.Go(func() {
			for i := range total / 16 {
				if _, err := control.Send.Ask(t.Context(), a, control.SendRequest{To: []string{"all"}, Body: fmt.Sprint(w, " ", i)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	eventually(t, "the bus drops messages", func() bool { return queue.Dropped() > 0 })
	goOn()
	sending.Wait()
	want := before + total/16*16
	eventually(t, "all messages have arrived", func() bool { return size(b) >= want && size(b) == size(a) })
	if diff := cmp.Diff(paths(everything(t, a)), paths(everything(t, b))); diff != "" {
		t.Errorf("the hosts differ (-a +b):\n%s", diff)
	}
}

// size is how many messages a node has.
func size(n *Node) int {
	_, all := n.freezer.Sizes()
	return all
}

// A message that a live host heard reaches the record although its sender never comes back.
func TestHeardOfADeadHostReachesTheRemote(t *testing.T) {
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	changeConfig(t, home, func(c *configs.Config) { c.CourierGrace = 100 * time.Millisecond })
	n, stop := runNode(t, home)
	g := newGhost(t, n, "gone")
	all := g.words(5)
	n.Receive(all[:1], byBus)
	hear(t, n, all[1:])
	pushed := func(n *Node) bool {
		return !slices.ContainsFunc(all, func(l gitsync.MessageFile) bool { return n.record.Place(l.Path) != gitsync.Pushed })
	}
	eventually(t, "all that was heard is on the remote", func() bool { return pushed(n) })
	stop()
	n, _ = runNode(t, home)
	awaitAll(t, n, all)
	if got := paths(everything(t, n)); len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("a message stands twice after the restart: %v", got)
	}
}

// Two lies change nothing and end nothing: a head letter of a message that nobody ever wrote, and
// an answer that brings what was not asked for.
func TestLiesAboutHeadsAndAnswersDoNoHarm(t *testing.T) {
	t.Parallel()
	a, b := linkedPair(t)
	g := newGhost(t, a, "gone")
	all := g.words(3)
	a.Receive(all[:1], byBus)
	b.Receive(all[:1], byBus)
	head := func(host protocol.Name, seed string) protocol.Head {
		return protocol.Head{Host: host, Run: "0badcafe", Seq: 1 << 40, Hash: protocol.Hash([]byte(seed)), Path: all[3].Path}
	}
	b.mender.HeardHeads(a.cfg.Alias, []protocol.Head{head("gone", "x"), head(a.cfg.Alias, "y"), head(b.cfg.Alias, "z"), head("nobody", "w")})
	eventually(t, "the holes that are none were asked for", func() bool {
		open, _, _ := b.mender.Counts() // those that were asked for in vain
		return open == 2
	})
	forged := all[1]
	forged.Path = protocol.NewPath(forged.Path.Channel(), forged.Path.Time(), 7)
	resent := []protocol.Resent{{Path: forged.Path, Data: forged.Data}, {Path: all[2].Path, Data: []byte("garbage")}, {Path: all[2].Path, Data: all[2].Data}}
	if count := b.entry.LetInResent(a.cfg.Alias, a.cfg.Alias, resent); count != 0 || refusedInAll(b) != 3 {
		t.Errorf("%d of another host's messages were taken, %d refused", count, refusedInAll(b))
	}
	if count := b.entry.LetInResent(a.cfg.Alias, "gone", resent); count != 1 || !has(b, all[2].Path) || has(b, forged.Path) {
		t.Errorf("%d of three were taken, want the one that is right", count)
	}
}

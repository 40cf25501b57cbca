package node

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/homes"
)

// presence is a letter that says that the host is there, dated at that time.
func (g *ghost) presence(at time.Time, count uint64, live bool) *nats.Msg {
	g.t.Helper()
	data, err := json.Marshal(bus.Presence{Host: g.alias, Live: live, Agents: []string{}, Run: g.head.Run, Start: 1, Count: count})
	if err != nil {
		g.t.Fatal(err)
	}
	return g.letter("presence", at, data)
}

// A node that has just started does not know which presence letters of a host are old. The times of
// the letters alone do not tell if clocks differ. It prevents: a host that is away is shown as
// live, because somebody repeats what it said hours ago.
func TestOldPresenceIsBelievedOnlyOfAHostThatAnswers(t *testing.T) {
	c := new(clock)
	n, _ := runNodeAt(t, initHome(t, func(o *homes.Options) { o.Listen = "127.0.0.1:0" }), c.now)
	g := newGhost(t, n, "white")
	n.Receive([]gitsync.MessageFile{g.join("alice")}, byBus)
	public, err := g.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(n.currentBus().Addresses().Clients, nats.Nkey(public, g.key.Sign))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	questions, err := conn.SubscribeSync("parley.demo.oracle-world.ask.white.ping")
	if err != nil {
		t.Fatal(err)
	}
	live := func() bool { _, live := n.live.PresenceOf("white"); return live }
	unasked := func() { c.forward(5 * time.Second) } // the host is asked for it once in so long
	for i, age := range []time.Duration{10 * time.Hour, 2 * time.Minute, -10 * time.Hour} {
		unasked()
		if err := conn.PublishMsg(g.presence(time.Now().Add(-age), uint64(i+1), true)); err != nil {
			t.Fatal(err)
		}
		if _, err := questions.NextMsg(within); err != nil {
			t.Fatalf("nobody was asked whether a presence that is %s old counts: %v", age, err)
		}
		if live() {
			t.Errorf("a presence that is %s old makes its host live", age)
		}
	}
	if err := conn.PublishMsg(g.presence(time.Now().Add(-time.Second), 8, true)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a fresh presence makes its host live", live)
	unasked()
	if err := conn.PublishMsg(g.presence(time.Now().Add(-time.Hour), 9, false)); err != nil {
		t.Fatal(err)
	}
	if _, err := questions.NextMsg(within); err != nil || !live() {
		t.Errorf("an old word that it leaves has taken the host away, or %v", err)
	}
}

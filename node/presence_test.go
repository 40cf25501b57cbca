package node

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: one host that says again and again that it has come, or asks to hear the others, has
// all of them speak to all each time.
func TestGreetingsArePaused(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Listen = "127.0.0.1:0" }))
	conn, err := nats.Connect(n.currentBus().Addresses().Clients)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	letters, err := conn.SubscribeSync("parley.demo.oracle-world.presence")
	if err != nil || conn.Flush() != nil {
		t.Fatal(err)
	}
	var sent []time.Time
	for len(sent) < 4 {
		now := time.Now()
		n.presence.SawHost(bus.Presence{Host: "white", Live: true, Run: "1", Sent: now, Seen: now, Wants: []protocol.Name{"oracle-world"}})
		msg, err := letters.NextMsg(within)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(protocol.TimestampLayout, msg.Header.Get(protocol.HeaderTime))
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, at)
	}
	// One of the four may be the letter that it sends every few seconds anyway, without a pause.
	if took := sent[3].Sub(sent[0]); took < 500*time.Millisecond {
		t.Errorf("it spoke four times within %s", took)
	}
}

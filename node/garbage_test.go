package node

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// garbler is a host with a key that counts and a program that sends garbage.
type garbler struct {
	*ghost
	conn *nats.Conn
	dice *rand.Rand
	word gitsync.MessageFile // a message that is right
}

func (g *garbler) bytes(most int) []byte {
	b := make([]byte, g.dice.IntN(most+1))
	for i := range b {
		b[i] = byte(g.dice.Uint32())
	}
	return b
}

func (g *garbler) text(most int) string { return base64.StdEncoding.EncodeToString(g.bytes(most)) }

// spit sends one piece of garbage, of any kind, with any bytes, headers and size.
func (g *garbler) spit() {
	kinds := []string{
		"hey.mawjs", "wormhole.hub.mawjs", "channel." + g.word.Path.Channel().String(), "broadcast", "receipt", "presence", "heard", "head",
		"bell", "ask.hub.ping", "ask.hub.status", "ask.hub.resend", "ask.hub.nothing", "shout", "hey", "hey.a.b.c.d", "channel.no-uuid",
	}
	rest := kinds[g.dice.IntN(len(kinds))]
	var msg *nats.Msg
	switch g.dice.IntN(4) {
	case 0: // a signed letter of garbage
		msg = g.letter(rest, time.Now(), g.bytes(2000))
	case 1: // a message that is right, with some of its bytes changed
		msg = nats.NewMsg("parley.demo." + g.alias.String() + "." + rest)
		msg.Data = bytes.Clone(g.word.Data)
		for range g.dice.IntN(4) {
			msg.Data[g.dice.IntN(len(msg.Data))] = byte(g.dice.Uint32())
		}
		msg.Header.Set(protocol.HeaderPath, g.word.Path.String())
	default:
		msg = nats.NewMsg("parley.demo." + g.alias.String() + "." + rest)
		msg.Data = g.bytes(5000)
	}
	for range g.dice.IntN(4) {
		names := []string{protocol.HeaderPath, protocol.HeaderHost, protocol.HeaderRun, protocol.HeaderSeq, protocol.HeaderKey, protocol.HeaderSig, fmt.Sprintf("X-%x", g.bytes(20))}
		size := 30
		if g.dice.IntN(50) == 0 {
			size = 20_000
		}
		msg.Header.Set(names[g.dice.IntN(len(names))], g.text(size))
	}
	if err := g.conn.PublishMsg(msg); err != nil {
		g.t.Fatal(err)
	}
}

// A host with a key sends garbage on every kind of subject. The garbage is counted. It ends
// nothing, takes no memory, and keeps nobody from talking.
func TestGarbageOfAHostWithAKey(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	// The test runs beside no other test: what others keep would count as what garbage takes.
	const pieces = 2000
	hub, white := linkedPair(t)
	g := &garbler{ghost: newGhost(t, hub, "eve"), dice: rand.New(rand.NewPCG(1, 2))}
	join := g.join("mallory")
	hub.Receive([]gitsync.MessageFile{join}, byBus)
	white.Receive([]gitsync.MessageFile{join}, byBus)
	g.word = g.say("mallory", "hello")
	public, err := g.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "its key counts", func() bool { _, ok := hub.hosts.Trusted(public); return ok })
	g.conn, err = nats.Connect(hub.currentBus().Addresses().Clients, nats.Nkey(public, g.key.Sign),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer g.conn.Close()
	spitAll := func() {
		for range pieces {
			g.spit()
		}
		if err := g.conn.Flush(); err != nil {
			t.Fatal(err)
		}
		m := say(t, hub, "all", "honest words, here and there")
		awaitHas(t, white, m.Path)
		m = say(t, white, "all", "and back")
		awaitHas(t, hub, m.Path)
	}
	spitAll()
	before := memory()
	spitAll()
	spitAll()
	if grown := memory() - before; grown > 16<<20 {
		t.Errorf("twice as much garbage took %d KiB more", grown>>10)
	}
	for _, n := range []*Node{hub, white} {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || s.Bus.Unreadable == 0 || s.Bus.Letters == 0 || s.Bus.Letter == "" || refusedInAll(n) == 0 || len(s.Bus.Refused) != 1 {
			t.Errorf("%s counts %+v, %v", n.cfg.Alias, s.Bus, err)
		}
		if len(s.Warned) > 2 {
			t.Errorf("%s warns %d times: %q", n.cfg.Alias, len(s.Warned), s.Warned)
		}
	}
}

// memory is the size of what lives on the heap of this process.
func memory() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

package node

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// ghost writes messages as a host does, without a node. What it signed can be held back, be lost,
// or come in any order.
type ghost struct {
	t      testing.TB
	record string
	alias  protocol.Name
	key    nkeys.KeyPair
	head   writing.Head
	now    time.Time
}

// newGhost returns a host of which n has not heard.
func newGhost(t testing.TB, n *Node, alias protocol.Name) *ghost {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	return &ghost{t: t, record: n.record.ID(), alias: alias, key: key, head: writing.Head{Run: random.Hex(4)}, now: time.Now()}
}

func (g *ghost) sign(m protocol.Message, channel protocol.ChannelID) gitsync.MessageFile {
	g.t.Helper()
	m.Path, m.Timestamp = g.head.Next(channel, g.now)
	m.Type, m.Host, m.Run, m.Seq, m.Prev = protocol.TypeText, g.alias, g.head.Run, g.head.Seq, g.head.Prev
	data, err := protocol.Sign(&m, g.record, g.key)
	if err != nil {
		g.t.Fatal(err)
	}
	g.head.Prev = protocol.Hash(data)
	return gitsync.MessageFile{Path: m.Path, Data: data, Peer: true}
}

// join is the host's first message: its key, and the human who speaks there.
func (g *ghost) join(human protocol.Name) gitsync.MessageFile {
	g.t.Helper()
	public, err := g.key.PublicKey()
	if err != nil {
		g.t.Fatal(err)
	}
	says := protocol.HostState{Host: g.alias, Key: public, Humans: []protocol.Name{human}}
	return g.sign(protocol.Message{
		From: g.alias.String(), To: []protocol.Address{{Name: g.alias.String()}}, Act: protocol.ActHostJoin,
		Body: protocol.FormatHost(protocol.ActHostJoin, says),
	}, protocol.SystemChannel(g.record))
}

// say writes a message to everybody.
func (g *ghost) say(from, body string) gitsync.MessageFile {
	g.t.Helper()
	return g.sign(protocol.Message{From: from, To: []protocol.Address{{Name: protocol.All}}, Act: protocol.ActHey, Body: body},
		protocol.DeriveChannel(g.record, protocol.All))
}

// letter signs a letter between hosts, or a question, with the given time.
func (g *ghost) letter(rest string, at time.Time, data []byte) *nats.Msg {
	g.t.Helper()
	subject := "parley.demo." + g.alias.String() + "." + rest
	l := &protocol.Letter{Subject: subject, Host: g.alias, Time: at.UTC().Truncate(time.Millisecond), Data: data}
	msg := nats.NewMsg(subject)
	if strings.HasPrefix(rest, "ask.") {
		msg.Reply = "_INBOX.demo." + g.alias.String() + ".x.y"
		l.Re = msg.Reply
		msg.Header.Set(protocol.HeaderRe, l.Re)
	}
	if err := l.Seal(g.record, g.key); err != nil {
		g.t.Fatal(err)
	}
	msg.Data = data
	msg.Header.Set(protocol.HeaderHost, l.Host.String())
	msg.Header.Set(protocol.HeaderKey, l.Key)
	msg.Header.Set(protocol.HeaderTime, l.Time.Format(protocol.TimestampLayout))
	msg.Header.Set(protocol.HeaderSig, l.Sig)
	return msg
}

// onBus returns a message as the bus brings it.
func onBus(t testing.TB, n *Node, l gitsync.MessageFile) bus.Incoming {
	t.Helper()
	m, err := protocol.Decode(l.Path, l.Data)
	if err != nil {
		t.Fatal(err)
	}
	return bus.Incoming{Sender: m.Host, Subject: protocol.Subjects{Fleet: n.cfg.Fleet}.Message(m), Path: l.Path, Data: l.Data}
}

// has reports whether the state of a node holds a message.
func has(n *Node, p protocol.Path) bool {
	return n.reading(func() bool { _, ok := n.state.Ledger.Item(p); return ok })
}

// awaitHas waits until a node has a message.
func awaitHas(t testing.TB, n *Node, p protocol.Path) protocol.Path {
	t.Helper()
	eventually(t, p.String()+" is there", func() bool { return has(n, p) })
	return p
}

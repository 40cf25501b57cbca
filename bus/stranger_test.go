package bus

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// nothingButMarker follows each attempt of a stranger. It sends a message that does arrive at `h`,
// on the same way. So what has not arrived before this message never will.
func (h *host) nothingButMarker(t *testing.T, from *host, n int) {
	t.Helper()
	h.mu.Lock()
	before := len(h.messages)
	h.mu.Unlock()
	from.publish(t, n)
	h.await(t, "the marker", func() bool { return len(h.messages) > before })
	if got := len(h.paths()); got != before+1 {
		t.Errorf("%s got %d messages, want the marker alone", h.alias, got-before)
	}
}

func TestStrangerReadsAndCannotSpeak(t *testing.T) {
	hub, leaf := pair(t)
	stranger, problems := hub.dialAs(t, nil)
	letters := subscribe(t, stranger, "parley.>")

	_, data := leaf.publish(t, 1)
	got, err := letters.NextMsg(scratch.Patience())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Data, data) || got.Subject != "parley.dawn.oracle-world.hey.homekeeper" {
		t.Errorf("the stranger read %q on %s, want the exact bytes %q", got.Data, got.Subject, data)
	}
	hub.await(t, "the message", func() bool { return len(hub.messages) == 1 })

	for _, subject := range []string{got.Subject, "parley.dawn.white.bell", "parley.x", "_INBOX.dawn.white.a.b", "elsewhere", "$SYS.REQ.SERVER.PING"} {
		msg := nats.NewMsg(subject)
		msg.Data, msg.Header = got.Data, got.Header
		if err := stranger.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		if err := awaited(t, "what the server says", problems); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publishing to %s: %v, want a permissions violation", subject, err)
		}
	}
	leaf.nothingButMarker(t, hub, 2)
	hub.nothingButMarker(t, leaf, 3)
	if leaf.bells["white"] != 0 || hub.bells["white"] != 0 {
		t.Error("the stranger rang a bell")
	}
	if got, err := letters.NextMsg(scratch.Patience()); err != nil || got.Header.Get(protocol.HeaderSeq) != "3" {
		t.Errorf("after the stranger's attempts: %v, %v, want only the first marker", got, err)
	}
}

func TestStrangerHearsNothingElse(t *testing.T) {
	hub, _ := pair(t)
	stranger, problems := hub.dialAs(t, nil)
	for _, subject := range []string{">", "*.>", "_INBOX.>", "_INBOX.dawn.white.>", "$SYS.>", "$LDS.>", "elsewhere"} {
		subscribe(t, stranger, subject)
		if err := awaited(t, "what the server says", problems); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("subscribing to %s: %v, want a permissions violation", subject, err)
		}
	}
}

// A subject to which a reader subscribes must not cost a host its link, whatever the subject is.
func TestStrangersSubjectsDoNotBreakLinks(t *testing.T) {
	hub, leaf := newHostPairBothListening(t)
	for _, h := range []*host{hub, leaf} {
		stranger, _ := h.dialAs(t, nil)
		subscribe(t, stranger, "parley.elsewhere.bell")
		subscribe(t, stranger, "parley.*.*.bell")
		subscribe(t, stranger, "parley.>")
	}
	hub.nothingButMarker(t, leaf, 1)
	leaf.nothingButMarker(t, hub, 2)
	if hub.linked != 1 || leaf.linked != 1 {
		t.Errorf("links came up %d and %d times, want once", hub.linked, leaf.linked)
	}
}

func newHostPairBothListening(t *testing.T) (hub, leaf *host) {
	t.Helper()
	f := newFleet()
	hub, leaf = newHost(t, f, "white"), newHost(t, f, "oracle-world")
	hub.opts.Listen, leaf.opts.Listen = "127.0.0.1:0", "127.0.0.1:0"
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	return hub, leaf
}

// A queue group takes no message away from hosts that are not members of it. This holds for a group
// at the host's own port and for one behind a link.
func TestQueueGroupsTakeNothingAway(t *testing.T) {
	f := newFleet()
	hub, leaf, third := newHost(t, f, "white"), newHost(t, f, "oracle-world"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	_, behind, _ := strangeServer(t, "black-strange", sideDoor(t, hub, third, false))
	here, _ := hub.dialAs(t, third.opts.Key)
	var thieves []*nats.Subscription
	for _, conn := range []*nats.Conn{here, here, behind, behind} {
		thief, err := conn.QueueSubscribeSync("parley.dawn.>", "thieves")
		if err = errors.Join(err, conn.Flush()); err != nil {
			t.Fatal(err)
		}
		thieves = append(thieves, thief)
	}
	awaitTrue(t, "the link of black", func() bool { l := hub.Links(); return len(l) == 2 && l[0].Up && l[1].Up })
	for n := range 8 {
		leaf.publish(t, n)
		hub.publish(t, 8+n)
	}
	hub.await(t, "all of the leaf", func() bool { return len(hub.messages) == 8 })
	leaf.await(t, "all of the hub", func() bool { return len(leaf.messages) == 8 })
	awaitTrue(t, "the queue group to hear something, so that it was tried", func() bool {
		return slices.ContainsFunc(thieves, func(thief *nats.Subscription) bool {
			n, _, err := thief.Pending()
			return err == nil && n > 0
		})
	})
}

func TestClientWithAKeySpeaksOnlyBelowItsName(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	conn, problems := hub.dialAs(t, third.opts.Key)
	m, data := message(t, third, 1)
	msg := nats.NewMsg("parley.dawn.black.hey.homekeeper")
	msg.Data = data
	msg.Header.Set(protocol.HeaderPath, m.Path.String())
	for _, subject := range []string{"parley.dawn.white.bell", "parley.other.black.bell", "parley.dawn.black", "elsewhere"} {
		if err := conn.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		if err := awaited(t, "what the server says", problems); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publishing to %s: %v, want a permissions violation", subject, err)
		}
	}
	if err := conn.PublishMsg(msg); err != nil {
		t.Fatal(err)
	}
	hub.await(t, "its message", func() bool { return len(hub.messages) == 1 && hub.messages[0].Sender == "black" })
}

func TestClientWithAWrongKeyIsRefused(t *testing.T) {
	hub, leaf := pair(t)
	unknown := newKey(t)
	for name, option := range map[string]nats.Option{
		"a key that is not trusted": nats.Nkey(publicKey(t, unknown), unknown.Sign),
		"a key it does not hold":    nats.Nkey(publicKey(t, leaf.opts.Key), unknown.Sign),
		"a stale signature": nats.Nkey(publicKey(t, leaf.opts.Key), func([]byte) ([]byte, error) {
			return leaf.opts.Key.Sign([]byte("another nonce"))
		}),
	} {
		conn, err := nats.Connect(hub.Addresses().Clients, option)
		if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v, want an authorization violation", name, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

func TestClientWithOurOwnKeyIsUs(t *testing.T) {
	f := newFleet()
	h := newHost(t, newFleet(), "white")
	h.opts.Trusted = f.trusted // f does not know this host yet
	h.opts.Listen = "127.0.0.1:0"
	h.start(t)
	conn, problems := h.dialAs(t, h.opts.Key)
	if err := conn.Publish("parley.dawn.white.bell", nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-problems:
		t.Error(err)
	default:
	}
}

// strangeServer starts somebody's own NATS server, which dials whatever is at `address` and wants
// everything.
func strangeServer(t *testing.T, name, address string) (*server.Server, *nats.Conn, <-chan struct{}) {
	t.Helper()
	remote := &server.RemoteLeafOpts{URLs: []*url.URL{{Scheme: "nats-leaf", Host: address}}}
	opts := &server.Options{ServerName: name, DontListen: true, NoSigs: true, NoLog: true, NoSystemAccount: true}
	opts.LeafNode.ReconnectInterval = 10 * time.Millisecond
	opts.LeafNode.Remotes = []*server.RemoteLeafOpts{remote}
	srv, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	news := make(chan struct{}, 4096)
	srv.SetLogger(&logger{log: zerolog.Nop(), leaf: func() { news <- struct{}{} }}, true, false)
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	conn, err := nats.Connect("", nats.InProcessServer(srv))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return srv, conn, news
}

// sideDoor returns an address. What comes there goes to the links port of `hub`, as from a host
// with the key of `as`, whatever is said then.
func sideDoor(t *testing.T, hub, as *host, takes bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	work.Go(func() {
		acceptAll(ctx, l, func(conn net.Conn) {
			out, says := knockAs(t, hub.Addresses().Links, as.opts.Key, hello{Link: linkVersion, Takes: takes})
			if out == nil || says.Cause != "" {
				_ = conn.Close()
				return
			}
			work.Go(func() { pass(ctx, conn, out) })
		})
	})
	return l.Addr().String()
}

// knockAs knocks at a links port with `key`, and returns the connection and the answer. The
// connection is nil if there is no answer.
func knockAs(t *testing.T, address string, key nkeys.KeyPair, asks hello) (*tls.Conn, welcome) {
	t.Helper()
	cert, err := hostCertificate(key, "anybody", nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{linkName}, Certificates: []tls.Certificate{cert},
	})
	if err != nil {
		t.Log(err)
		return nil, welcome{}
	}
	var says welcome
	if err := errors.Join(writeLine(conn, asks), readLine(conn, &says)); err != nil {
		t.Log(err)
		return nil, welcome{}
	}
	return conn, says
}

func TestStrangeServersAreRefused(t *testing.T) {
	t.Parallel()
	hub, leaf := pair(t)
	v, err := hub.server.Varz(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{
		"at the links port": hub.Addresses().Links, "at the clients port": hub.Addresses().Clients,
		"past the entrance": net.JoinHostPort(v.LeafNode.Host, strconv.Itoa(v.LeafNode.Port)),
	} {
		t.Run(name, func(t *testing.T) {
			srv, conn, news := strangeServer(t, "white-x", address)
			everything := subscribe(t, conn, ">")
			for range 3 { // more than one attempt
				awaited(t, "another try", news)
			}
			hub.nothingButMarker(t, leaf, 1+len(hub.paths()))
			if n, _, err := everything.Pending(); n != 0 || err != nil {
				t.Errorf("the strange server received %d messages (%v)", n, err)
			}
			if got := hub.Links(); len(got) != 1 || srv.NumLeafNodes() != 0 && got[0].Host != leaf.alias {
				t.Errorf("Links() = %+v, want only that of %s", got, leaf.alias)
			}
		})
	}
}

// A server that proves no key that counts learns this, and nothing else.
func TestStrangersAtTheLinksPort(t *testing.T) {
	hub, leaf := pair(t)
	third := newHost(t, newFleet(), "black")
	for name, c := range map[string]struct {
		key  nkeys.KeyPair
		link int
		want Cause
	}{
		"a key that is not trusted": {third.opts.Key, linkVersion, CauseKey},
		"our own key":               {hub.opts.Key, linkVersion, CauseSelf},
		"another version":           {leaf.opts.Key, linkVersion + 1, CauseVersion},
	} {
		conn, says := knockAs(t, hub.Addresses().Links, c.key, hello{Link: c.link})
		if conn == nil || says.Cause != c.want {
			t.Errorf("%s: %+v, want %s", name, says, c.want)
			continue
		}
		if rest, err := io.ReadAll(conn); len(rest) != 0 || err != nil {
			t.Errorf("%s: then came %q, %v", name, rest, err)
		}
		_ = conn.Close()
	}
	conn, err := tls.Dial("tcp", hub.Addresses().Links, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{linkName}})
	if err == nil {
		var rest []byte
		if rest, err = io.ReadAll(conn); len(rest) != 0 || err == nil {
			t.Errorf("without a certificate came %q, %v", rest, err)
		}
		_ = conn.Close()
	}
	if len(hub.Links()) != 1 {
		t.Errorf("Links() = %+v", hub.Links())
	}
}

func TestKeyIsAcceptedOnceItIsTrusted(t *testing.T) {
	t.Parallel()
	f := newFleet()
	hub, leaf := newHost(t, f, "white"), newHost(t, newFleet(), "oracle-world")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	leaf.opts.Trusted = f.trusted
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t)
	awaitTrue(t, "the refusal", func() bool { l := onlyLink(t, leaf); return !l.Up && l.Problem != "" })
	f.trust(t, leaf.opts.Key, leaf.alias)
	leaf.awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	hub.nothingButMarker(t, leaf, 1)
}

// A host's key opens a link for the fleet's subjects only. Words of other fleets never reach the
// handlers.
func TestLinkCarriesOnlyTheFleet(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	srv, conn, _ := strangeServer(t, "black-strange", sideDoor(t, hub, third, false))
	everything := subscribe(t, conn, ">")
	awaitTrue(t, "the link", func() bool { return srv.NumLeafNodes() == 1 && len(hub.Links()) == 1 })
	reader, _ := hub.dialAs(t, nil)
	letters := subscribe(t, reader, "parley.>")
	awaitTrue(t, "the hub's subscription", func() bool {
		z, err := srv.Leafz(&server.LeafzOptions{Subscriptions: true})
		return err == nil && len(z.Leafs) == 1 && len(z.Leafs[0].Subs) > 1
	})
	if err := conn.Publish("parley.other.black.bell", nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.Publish("elsewhere", nil); err != nil {
		t.Fatal(err)
	}
	m, data := message(t, third, 1)
	msg := nats.NewMsg("parley.dawn.black.hey.homekeeper")
	msg.Data = data
	msg.Header.Set(protocol.HeaderPath, m.Path.String())
	if err := conn.PublishMsg(msg); err != nil {
		t.Fatal(err)
	}
	hub.await(t, "the message", func() bool { return len(hub.messages) == 1 })
	if got, err := letters.NextMsg(scratch.Patience()); err != nil || got.Subject != msg.Subject {
		t.Errorf("the reader got %v, %v first, want the message", got, err)
	}
	if n := hub.Offences().Malformed; n != 0 {
		t.Errorf("%d things could not be read", n)
	}
	for { // the client of the strange server also gets what it published itself
		got, err := everything.NextMsg(scratch.Patience())
		if err != nil {
			t.Fatal(err)
		}
		if got.Subject == msg.Subject {
			break
		}
	}
	hub.publish(t, 2)
	if got, err := everything.NextMsg(scratch.Patience()); err != nil || got.Subject != "parley.dawn.white.hey.homekeeper" {
		t.Errorf("across the link came %v, %v, want the fleet's message", got, err)
	}
}

func TestLettersThatProveNothingAreRefused(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	conn, _ := hub.dialAs(t, third.opts.Key)
	const subject = "parley.dawn.black.heard"
	m, _ := message(t, third, 1)
	paths := encodeHeard([]protocol.Path{m.Path})
	now := time.Now().UTC().Truncate(time.Millisecond)
	letter := func(change func(*protocol.Letter)) *protocol.Letter {
		l := &protocol.Letter{Subject: subject, Host: "black", Time: now, Data: paths}
		change(l)
		return l
	}
	same := func(*protocol.Letter) {}
	alien := newHost(t, newFleet(), "black")
	unsigned := sealed(t, third, letter(same), subject)
	unsigned.Header.Del(protocol.HeaderSig)
	changed := sealed(t, third, letter(same), subject)
	changed.Data = bytes.Replace(changed.Data, []byte("2026"), []byte("2027"), 1)
	otherRecord := &host{opts: third.opts}
	otherRecord.opts.RecordID = "another"
	refused := map[string]*nats.Msg{
		"unsigned":                unsigned,
		"changed":                 changed,
		"another's key":           sealed(t, hub, letter(same), subject),
		"an unknown key":          sealed(t, alien, letter(same), subject),
		"another host in it":      sealed(t, third, letter(func(l *protocol.Letter) { l.Host = "white" }), subject),
		"signed for another kind": sealed(t, third, letter(func(l *protocol.Letter) { l.Subject = "parley.dawn.black.bell" }), subject),
		"of another record":       sealed(t, otherRecord, letter(same), subject),
		"two days old":            sealed(t, third, letter(func(l *protocol.Letter) { l.Time = now.Add(-48 * time.Hour) }), subject),
		"two days early":          sealed(t, third, letter(func(l *protocol.Letter) { l.Time = now.Add(48 * time.Hour) }), subject),
	}
	for name, msg := range refused {
		before := hub.Offences().Refused
		if err := conn.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		awaitTrue(t, name+" to be refused", func() bool { return hub.Offences().Refused == before+1 })
	}
	if err := conn.PublishMsg(sealed(t, third, letter(same), subject)); err != nil {
		t.Fatal(err)
	}
	hub.await(t, "the letter that is right", func() bool { return len(hub.heard) == 1 })
	if len(hub.heard["black"]) != 1 {
		t.Errorf("heard %v, want the one path", hub.heard)
	}
}

func TestGarbageIsCounted(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	conn, _ := hub.dialAs(t, third.opts.Key)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for name, msg := range map[string]*nats.Msg{
		"an unknown kind":       nats.NewMsg("parley.dawn.black.nonsense"),
		"too many tokens":       nats.NewMsg("parley.dawn.black.bell.bell"),
		"a message, no path":    nats.NewMsg("parley.dawn.black.broadcast"),
		"a letter, no headers":  nats.NewMsg("parley.dawn.black.bell"),
		"a question, no header": nats.NewMsg("parley.dawn.black.ask.white.who"),
		"a question, no name":   nats.NewMsg("parley.dawn.black.ask.white.WHO"),
		"heard, no path": sealed(t, third, &protocol.Letter{
			Subject: "parley.dawn.black.heard", Host: "black", Time: now, Data: []byte("../../x"),
		}, "parley.dawn.black.heard"),
		"presence, no JSON": sealed(t, third, &protocol.Letter{
			Subject: "parley.dawn.black.presence", Host: "black", Time: now, Data: []byte("{"),
		}, "parley.dawn.black.presence"),
	} {
		before := hub.Offences().Malformed
		if err := conn.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		awaitTrue(t, name+" to be counted", func() bool { return hub.Offences().Malformed == before+1 })
	}
}

package bus

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

// between is a proxy in front of an address. It can hold back what passes, and neither end is told.
type between struct {
	address string
	held    sync.RWMutex // locked while nothing passes
}

func newBetween(t *testing.T, to string) *between {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &between{address: l.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	work.Go(func() {
		acceptAll(ctx, l, func(conn net.Conn) {
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = conn.Close()
				return
			}
			work.Go(func() { pass(ctx, &muffled{conn, p}, out) })
		})
	})
	return p
}

// silence holds back what passes until end is called, or the test has ended. Nothing is lost: on a
// connection that lost an answer, the end of a host would wait in vain for that of its own question.
func (p *between) silence(t *testing.T) (end func()) {
	p.held.Lock()
	end = sync.OnceFunc(p.held.Unlock)
	t.Cleanup(end)
	return end
}

// muffled is a connection that hands nothing on while the proxy is silent.
type muffled struct {
	net.Conn
	by *between
}

func (m *muffled) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.wait()
	return n, err
}

func (m *muffled) Write(p []byte) (int, error) {
	m.wait()
	return m.Conn.Write(p)
}

func (m *muffled) wait() {
	m.by.held.RLock()
	defer m.by.held.RUnlock()
}

// If nothing comes over a link any more, though nobody closed it, both ends must give it up within
// seconds. Then it must be made anew.
func TestHalfOpenLinkIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFleet()
	hub, leaf := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	p := newBetween(t, hub.Addresses().Links)
	leaf.opts.Hubs = at(p.address)
	leaf.start(t).awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	speak := p.silence(t)
	awaitTrue(t, "the hub to give the link up", func() bool { return len(hub.Links()) == 0 })
	awaitTrue(t, "the leaf to give the link up", func() bool { return !onlyLink(t, leaf).Up })
	speak()
	leaf.awaitLinked(t, 2)
	hub.awaitLinked(t, 2)
	hub.nothingButMarker(t, leaf, 1)
}

// A man in the middle with a certificate of his own, even one of a member, gets nothing. The
// dialling host sees that this is not the host that it dialled, and says so.
func TestManInTheMiddleIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet()
	hub, member, stranger := newHost(t, f, "white"), newHost(t, f, "grey"), newHost(t, newFleet(), "white")
	for name, c := range map[string]struct {
		middle *host
		says   string
	}{
		"a member":   {member, "is that of grey, not of white"},
		"a stranger": {stranger, "is not one of white"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leaf := newHost(t, f, "black")
			address, taken := middle(t, c.middle)
			leaf.opts.Hubs = func() []Hub {
				return []Hub{{Alias: "white", Keys: []string{publicKey(t, hub.opts.Key)}, Addresses: []string{address}}}
			}
			leaf.start(t)
			awaitTrue(t, "the refusal", func() bool {
				l := leaf.Links()
				return len(l) == 1 && !l[0].Up && strings.Contains(l[0].Problem, c.says)
			})
			if n := taken.Load(); n != 0 {
				t.Errorf("the middle was told %d bytes", n)
			}
		})
	}
	t.Run("a stranger at an address without an alias", func(t *testing.T) {
		t.Parallel()
		leaf := newHost(t, f, "black")
		address, _ := middle(t, stranger)
		leaf.opts.Hubs = at(address)
		leaf.start(t)
		awaitTrue(t, "the refusal", func() bool {
			l := leaf.Links()
			return len(l) == 1 && !l[0].Up && strings.Contains(l[0].Problem, "is that of no other host of the fleet")
		})
	})
}

// middle listens as a links port would, with the key of `by`. It returns its address, and counts in
// `taken` the bytes that it is told.
func middle(t *testing.T, by *host) (address string, taken *atomic.Int64) {
	t.Helper()
	cert, err := hostCertificate(by.opts.Key, by.alias, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, NextProtos: []string{linkName}, ClientAuth: tls.RequestClientCert,
	})
	if err != nil {
		t.Fatal(err)
	}
	taken = new(atomic.Int64)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	work.Go(func() {
		acceptAll(ctx, l, func(conn net.Conn) {
			work.Go(func() {
				n, _ := io.Copy(io.Discard, conn)
				taken.Add(n)
				_ = conn.Close()
			})
		})
	})
	return l.Addr().String(), taken
}

// Connections that say nothing must not keep a host out, even if there are more of them than there
// may be.
func TestSilentConnectionsDoNotKeepAHostOut(t *testing.T) {
	t.Parallel()
	f := newFleet()
	hub, leaf := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	flood := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 4 * maxFromOne {
		conn, err := flood.Dial("tcp", hub.Addresses().Links)
		if err != nil {
			t.Skip("this system has no second address on the loopback:", err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	awaitTrue(t, "the flood to be in", func() bool {
		hub.entrance.mu.Lock()
		defer hub.entrance.mu.Unlock()
		if len(hub.entrance.knocking) > maxFromOne {
			t.Fatalf("%d connections of one address are in hand", len(hub.entrance.knocking))
		}
		return len(hub.entrance.knocking) == maxFromOne
	})
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	awaitTrue(t, "the flood to be shown out", func() bool {
		hub.entrance.mu.Lock()
		defer hub.entrance.mu.Unlock()
		return len(hub.entrance.knocking) == 0
	})
}

// A program that finds the dialler's door on the loopback gets nothing there. It does not throw out
// the link that is there.
func TestDoorOfTheDiallerIsShut(t *testing.T) {
	hub, leaf := pair(t)
	address := leaf.dialler.door.listener.Addr().String()
	for name, says := range map[string]string{
		"nothing":        "\n\n",
		"nats":           "CONNECT {}\r\n",
		"no secret":      "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"a wrong secret": "CONNECT x:1 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic cGFybGV5OngK\r\n\r\n",
		"no end":         "CONNECT x:1 HTTP/1.1\r\nX: " + strings.Repeat("x", 2*maxRequest),
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(says))
		if got, _ := io.ReadAll(conn); len(got) != 0 {
			t.Errorf("%s: the door says %q", name, got)
		}
		_ = conn.Close()
	}
	for range 2 * doorPlaces {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	hub.nothingButMarker(t, leaf, 1)
	leaf.nothingButMarker(t, hub, 2)
	if hub.linked != 1 || leaf.linked != 1 {
		t.Errorf("links came up %d and %d times, want once", hub.linked, leaf.linked)
	}
}

// A member must not take the server name of another one, which would cut that one's link. It must
// not say that it is the hub either. It prevents as well: a host that takes such a name because its
// own name is the beginning of the other's.
func TestMemberCannotTakeAnothersServerName(t *testing.T) {
	f := newFleet()
	hub, leaf := newHost(t, f, "white"), newHost(t, f, "oracle-world")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	name := leaf.alias.String() + "-" + leaf.opts.ServerID
	for n, alias := range []protocol.Name{"black", "oracle"} {
		srv, _, news := strangeServer(t, name, sideDoor(t, hub, newHost(t, f, alias), false))
		for range 6 {
			awaited(t, "another try", news)
		}
		hub.nothingButMarker(t, leaf, 1+n)
		srv.Shutdown()
		awaitTrue(t, "the end of what "+alias.String()+" tries", func() bool { return len(hub.Links()) == 1 })
		if got := onlyLink(t, hub); got.Host != leaf.alias || hub.linked != 1 {
			t.Errorf("%s: the link is %+v, %d times up, want that of %s, once", alias, got, hub.linked, leaf.alias)
		}
	}
	for _, line := range []string{
		"", "PING\r", "CONNECT {\r", `CONNECT {"name":"white-x"}`, `CONNECT {"name":"black"}`, `CONNECT {"name":"black-x","is_hub":true}`,
		`CONNECT {"name":"black-ops-x"}`, `CONNECT {"name":"black-ops-x-y"}`,
	} {
		if checkConnect([]byte(line), "black", "x") == nil {
			t.Errorf("%q was taken", line)
		}
	}
	if err := checkConnect([]byte(`CONNECT {"name":"black-x-y","is_hub":false}`), "black", "1-2"); err != nil {
		t.Error(err)
	}
}

// The hub looks only once at what a server says when it enters. A host that says it again, in the
// name of another host's server, must be cut off before that server is.
func TestLinkEntersOnce(t *testing.T) {
	f := newFleet()
	hub, leaf, third := newHost(t, f, "white"), newHost(t, f, "oracle-world"), newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	before := onlyLink(t, hub)
	for range 8 { // if NATS heard the second word, it would cut off one of the two
		conn, says := knockAs(t, hub.Addresses().Links, third.opts.Key, hello{Link: linkVersion})
		if conn == nil || says.Cause != "" {
			t.Fatalf("black is not let in: %+v", says)
		}
		enter := func(name string) {
			line := fmt.Sprintf("CONNECT {\"name\":%q,\"remote_account\":\"$G\"}\r\n", name)
			if _, err := io.WriteString(conn, line); err != nil {
				t.Fatal(err)
			}
		}
		enter("black-x")
		awaitTrue(t, "the link of black", func() bool { return len(hub.Links()) == 2 })
		enter(leaf.alias.String() + "-" + leaf.opts.ServerID)
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		_ = conn.Close()
		awaitTrue(t, "the end of that link", func() bool { return len(hub.Links()) == 1 })
	}
	hub.nothingButMarker(t, leaf, 1)
	if got := hub.Links(); len(got) != 1 || !got[0].Since.Equal(before.Since) || leaf.linked != 1 {
		t.Errorf("Links() = %+v, up %d times at the leaf, want the one link as it was: %+v", got, leaf.linked, before)
	}
}

// A machine with many addresses must not take all places of the connections that knock.
func TestAddressesOfOneMachineCountAsOne(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true}, {"192.0.2.1:1", "192.0.2.2:1", false}, {"[::ffff:192.0.2.1]:1", "192.0.2.1:1", true},
		{"[2001:db8::1]:1", "[2001:db8::ffff:2]:1", true}, {"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
	} {
		a, b := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.a)), net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.b))
		if (origin(a) == origin(b)) != c.same {
			t.Errorf("%s counts as %s and %s as %s", c.a, origin(a), c.b, origin(b))
		}
	}
}

// A host that takes no links speaks below its own name alone, also by its link.
func TestLeafSpeaksOnlyBelowItsName(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	_, conn, _ := strangeServer(t, "black-strange", sideDoor(t, hub, third, true)) // black says that it takes links, unlike the record
	awaitTrue(t, "the link", func() bool { l := hub.Links(); return len(l) == 1 && l[0].Host == "black" })
	others := subscribe(t, conn, "_INBOX.dawn.grey.>")
	reader, _ := hub.dialAs(t, nil)
	letters := subscribe(t, reader, "parley.>")
	m, data := message(t, third, 1)
	for _, subject := range []string{"parley.dawn.white.hey.homekeeper", "parley.dawn.grey.hey.homekeeper", "parley.dawn.black.hey.homekeeper"} {
		msg := nats.NewMsg(subject)
		msg.Data = data
		msg.Header.Set(protocol.HeaderPath, m.Path.String())
		awaitTrue(t, "a message is sent", func() bool { return conn.PublishMsg(msg) == nil && conn.Flush() == nil })
	}
	awaitTrue(t, "its own message", func() bool {
		if err := conn.Publish("parley.dawn.black.bell", nil); err != nil {
			t.Fatal(err)
		}
		got, err := letters.NextMsg(50 * time.Millisecond)
		if err == nil && !strings.HasPrefix(got.Subject, "parley.dawn.black.") {
			t.Fatalf("%s passed", got.Subject)
		}
		return err == nil
	})
	if err := hub.conn.Publish("_INBOX.dawn.grey.x", nil); err != nil {
		t.Fatal(err)
	}
	hub.publish(t, 2)
	if n, _, err := others.Pending(); n != 0 || err != nil {
		t.Errorf("%d answers for another host passed (%v)", n, err)
	}
}

// On a port that other machines reach, a client is asked for TLS and a key. A client that trusts
// the host's certificate gets in with them.
func TestClientsPortBeyondTheLoopback(t *testing.T) {
	f := newFleet()
	hub := newHost(t, f, "white")
	hub.opts.Listen = "0.0.0.0:0"
	hub.opts.Advertise = []string{"localhost:1"}
	hub.start(t)
	_, port, _ := net.SplitHostPort(hub.Addresses().Clients)
	url := "nats://localhost:" + port
	pool := func(o *nats.Options) error {
		o.TLSConfig = &tls.Config{RootCAs: certPool(t, hub.Certificate())}
		return nil
	}
	if conn, err := nats.Connect(url, pool); err == nil {
		conn.Close()
		t.Error("a client without a key was let in")
	} else if !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a client without a key: %v", err)
	}
	key := hub.opts.Key
	if conn, err := nats.Connect(url, nats.Nkey(publicKey(t, key), key.Sign)); err == nil {
		conn.Close()
		t.Error("a client took the certificate that nobody vouches for")
	}
	conn, err := nats.Connect(url, pool, nats.Nkey(publicKey(t, key), key.Sign))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	subscribe(t, conn, "parley.dawn.>")
	again, err := hostCertificate(key, "white", []string{hub.opts.Listen, "localhost:1"})
	if err != nil || !bytes.Equal(again.Certificate[0], hub.identity().cert.Certificate[0]) {
		t.Errorf("the certificate is another one the second time (%v)", err)
	}
}

// When a key counts no longer, its links and clients end at once. With another key that counts, the
// host goes on.
func TestKeysThatCountNoLonger(t *testing.T) {
	f := newFleet()
	hub, leaf := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	client, _ := hub.dialAs(t, leaf.opts.Key)
	next := newKey(t)
	f.trust(t, next, "black")
	f.forget(t, leaf.opts.Key)
	hub.Recheck()
	awaitTrue(t, "link and client to end", func() bool { return !client.IsConnected() && !onlyLink(t, leaf).Up })
	if err := leaf.Rekey(next); err != nil {
		t.Fatal(err)
	}
	leaf.awaitLinked(t, 2)
	hub.nothingButMarker(t, leaf, 1)
	if err := leaf.Ring(); err != nil {
		t.Fatal(err)
	}
	hub.await(t, "a letter that the new key signed", func() bool { return hub.bells["black"] == 1 })

	f.forget(t, hub.opts.Key)
	leaf.Recheck()
	awaitTrue(t, "the link to the hub to end", func() bool { return !onlyLink(t, leaf).Up })
}

// The record may learn of a host while its link is taken. What it says then counts for that link.
// It prevents: a new hub behind which nobody is heard until a word of another host comes.
func TestHubThatIsKnownWhileItLinksCarries(t *testing.T) {
	t.Parallel()
	f := newFleet()
	hub, second := newHost(t, f, "white"), newHost(t, f, "yellow")
	hub.opts.Links, second.opts.Links = "127.0.0.1:0", "127.0.0.1:0"
	var asked atomic.Int32
	trusted := hub.opts.Trusted
	hub.opts.Trusted = func(key string) (protocol.Name, bool) {
		asked.Add(1)
		return trusted(key)
	}
	hub.opts.Hubs = func() []Hub {
		if asked.Load() < 2 { // once when the link is judged, and once when it is taken
			return nil
		}
		return []Hub{{Alias: "yellow", Keys: []string{publicKey(t, second.opts.Key)}, Addresses: []string{"127.0.0.1:1"}}}
	}
	hub.start(t)
	second.opts.Hubs = hubsOf(t, hub)
	second.start(t)
	awaitTrue(t, "the second hub to carry", func() bool {
		return slices.ContainsFunc(hub.entrance.links(), func(in *inlink) bool { return in.carries })
	})
}

// One member must not take all places of the links port.
func TestOneHostHasFewLinks(t *testing.T) {
	f := newFleet()
	hub, greedy, leaf := newHost(t, f, "white"), newHost(t, f, "grey"), newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	for n := range maxOfHost {
		conn, says := knockAs(t, hub.Addresses().Links, greedy.opts.Key, hello{Link: linkVersion})
		if conn == nil || says.Cause != "" {
			t.Fatalf("link %d: %+v", n, says)
		}
		t.Cleanup(func() { _ = conn.Close() })
		awaitTrue(t, "the link to be in", func() bool { return len(hub.entrance.links()) == n+1 })
	}
	if _, says := knockAs(t, hub.Addresses().Links, greedy.opts.Key, hello{Link: linkVersion}); says.Cause != CauseBusy {
		t.Errorf("one more: %+v, want it to be refused", says)
	}
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
}

// A host that takes links has dialled a hub behind it in the alphabet. When that hub goes silent,
// the host says what it misses. It prevents: a machine that is cut off and shows no link at all, as
// if nothing were wrong.
func TestAHubThatIsCutOffSaysSo(t *testing.T) {
	t.Parallel()
	f := newFleet()
	first, second := newHost(t, f, "alpha"), newHost(t, f, "beta")
	second.opts.Links = "127.0.0.1:0"
	second.start(t)
	p := newBetween(t, second.Addresses().Links)
	first.opts.Links = "127.0.0.1:0"
	first.opts.Hubs = func() []Hub {
		return []Hub{{Alias: "beta", Keys: []string{publicKey(t, second.opts.Key)}, Addresses: []string{p.address}}}
	}
	first.start(t).awaitLinked(t, 1)
	q := newBetween(t, first.Addresses().Links)
	third := newHost(t, f, "gamma")
	third.opts.Hubs = at(q.address)
	third.start(t).awaitLinked(t, 1)
	first.awaitLinked(t, 2)
	p.silence(t)
	q.silence(t)
	awaitTrue(t, "what is missing to be told", func() bool {
		l := first.Links()
		return len(l) == 1 && !l[0].Up && l[0].Problem != ""
	})
}

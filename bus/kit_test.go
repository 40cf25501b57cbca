package bus

import (
	"context"
	"crypto/x509"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

const (
	testFleet  = protocol.Name("dawn")
	testRecord = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// TestMain lets four times as many tests run at a time as there are processors, of those that
// may, unless -parallel says otherwise: they wait for pauses and limits of some seconds, and
// for little else.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// fleet is the key history that the hosts of a test share.
type fleet struct {
	mu   sync.Mutex // guards keys
	keys map[string]protocol.Name
}

func newFleet() *fleet { return &fleet{keys: map[string]protocol.Name{}} }

func (f *fleet) trust(t testing.TB, key nkeys.KeyPair, alias protocol.Name) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys[publicKey(t, key)] = alias
}

func (f *fleet) forget(t testing.TB, key nkeys.KeyPair) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, publicKey(t, key))
}

func (f *fleet) trusted(key string) (protocol.Name, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	alias, ok := f.keys[key]
	return alias, ok
}

func newKey(t testing.TB) nkeys.KeyPair {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func publicKey(t testing.TB, key nkeys.KeyPair) string {
	t.Helper()
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// host is a bus and all that its handlers were told.
type host struct {
	*Bus
	opts  Options
	alias protocol.Name
	news  chan struct{} // holds a token after each change

	mu       sync.Mutex // guards the fields below
	messages []Incoming
	batches  int
	heard    map[protocol.Name][]protocol.Path
	bells    map[protocol.Name]int
	heads    map[protocol.Name][]protocol.Head
	presence map[protocol.Name]Presence
	linked   int
	unlinked []protocol.Name
}

// newHost is a host that is trusted by f but not started; its options may be
// changed.
func newHost(t testing.TB, f *fleet, alias protocol.Name) *host {
	t.Helper()
	h := &host{
		alias: alias, news: make(chan struct{}, 1),
		heard:    map[protocol.Name][]protocol.Path{},
		bells:    map[protocol.Name]int{},
		heads:    map[protocol.Name][]protocol.Head{},
		presence: map[protocol.Name]Presence{},
	}
	key := newKey(t)
	f.trust(t, key, alias)
	h.opts = Options{
		Fleet: testFleet, Alias: alias, RecordID: testRecord, Key: key, Trusted: f.trusted,
		ServerID: "s" + publicKey(t, key)[1:9], Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel),
		Handlers: h.handlers(),
	}
	return h
}

func (h *host) handlers() Handlers {
	return Handlers{
		Message: func(batch []Incoming) {
			h.note(func() { h.messages = append(h.messages, batch...); h.batches++ })
		},
		Heard: func(from, agent protocol.Name, paths []protocol.Path) {
			if agent != "" {
				from = agent + "@" + from
			}
			h.note(func() { h.heard[from] = append(h.heard[from], paths...) })
		},
		Heads:    func(from protocol.Name, heads []protocol.Head) { h.note(func() { h.heads[from] = heads }) },
		Bell:     func(from protocol.Name) { h.note(func() { h.bells[from]++ }) },
		Presence: func(p Presence) { h.note(func() { h.presence[p.Host] = p }) },
		Linked:   func() { h.note(func() { h.linked++ }) },
		Unlinked: func(peer protocol.Name) { h.note(func() { h.unlinked = append(h.unlinked, peer) }) },
	}
}

func (h *host) note(change func()) {
	h.mu.Lock()
	change()
	h.mu.Unlock()
	select {
	case h.news <- struct{}{}:
	default:
	}
}

// start starts the bus and ends it with the test.
func (h *host) start(t testing.TB) *host {
	t.Helper()
	b, err := Start(context.Background(), h.opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Bus = b
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("closing %s: %v", h.alias, err)
		}
	})
	return h
}

// await waits until ok, which is asked under the lock, says yes.
func (h *host) await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(scratch.Patience())
	for {
		h.mu.Lock()
		done := ok()
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-h.news:
		case <-deadline:
			t.Fatalf("%s waited for %s in vain", h.alias, what)
		}
	}
}

// awaited is what comes next by a channel.
func awaited[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(scratch.Patience()):
		t.Fatalf("waited for %s in vain", what)
		panic("not reached")
	}
}

func (h *host) awaitLinked(t testing.TB, times int) {
	t.Helper()
	h.await(t, "a link", func() bool { return h.linked >= times })
}

// onlyLink is the one link of a host, which has exactly one at any moment: who has
// somebody to dial is never without, whether it is up or not.
func onlyLink(t testing.TB, h *host) Link {
	t.Helper()
	links := h.Links()
	if len(links) != 1 {
		t.Fatalf("%s has %d links, want one: %+v", h.alias, len(links), links)
	}
	return links[0]
}

func (h *host) paths() []protocol.Path {
	h.mu.Lock()
	defer h.mu.Unlock()
	var paths []protocol.Path
	for _, m := range h.messages {
		paths = append(paths, m.Path)
	}
	return paths
}

// hubsOf is what a host knows of hosts that take links.
func hubsOf(t testing.TB, hosts ...*host) func() []Hub {
	t.Helper()
	var hubs []Hub
	for _, h := range hosts {
		hubs = append(hubs, Hub{Alias: h.alias, Keys: []string{publicKey(t, h.opts.Key)}, Addresses: h.Addresses().Advertised, Named: true})
	}
	return func() []Hub { return hubs }
}

// closedAddress is an address of this machine where nobody can listen.
const closedAddress = "127.0.0.1:1"

func certPool(t testing.TB, pem []byte) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatal("this is no certificate")
	}
	return pool
}

// at are hubs of which an operator named only the address.
func at(addresses ...string) func() []Hub {
	return func() []Hub {
		var hubs []Hub
		for _, address := range addresses {
			hubs = append(hubs, Hub{Addresses: []string{address}, Named: true})
		}
		return hubs
	}
}

// pair is two started hosts with a link between them.
func pair(t testing.TB) (hub, leaf *host) {
	t.Helper()
	f := newFleet()
	hub, leaf = newHost(t, f, "white"), newHost(t, f, "oracle-world")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t)
	hub.awaitLinked(t, 1)
	leaf.awaitLinked(t, 1)
	return hub, leaf
}

// message is the n-th message of a host, and the bytes of its file.
func message(t testing.TB, from *host, n int) (*protocol.Message, []byte) {
	t.Helper()
	channel := protocol.DeriveChannel(testRecord, "mawjs", "homekeeper")
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC).Add(time.Duration(n) * time.Millisecond)
	m := &protocol.Message{
		Path: protocol.NewPath(channel, at, uint32(n)), From: "mawjs", To: []protocol.Address{{Name: "homekeeper"}},
		Type: protocol.TypeText, Timestamp: at, Act: protocol.ActHey,
		Host: from.alias, Run: "0badcafe", Seq: uint64(n + 1), Body: fmt.Sprintf("message %d", n),
	}
	data, err := protocol.Sign(m, testRecord, from.opts.Key)
	if err != nil {
		t.Fatal(err)
	}
	return m, data
}

func (h *host) publish(t testing.TB, n int) (*protocol.Message, []byte) {
	t.Helper()
	m, data := message(t, h, n)
	if err := h.Publish(m, data); err != nil {
		t.Fatal(err)
	}
	return m, data
}

// dialAs connects a plain NATS client to the host's listening port, with a key
// if there is one, and hands over what the server reports about it.
func (h *host) dialAs(t testing.TB, key nkeys.KeyPair) (*nats.Conn, <-chan error) {
	t.Helper()
	problems := make(chan error, 64)
	opts := []nats.Option{nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { problems <- err })}
	if key != nil {
		opts = append(opts, nats.Nkey(publicKey(t, key), key.Sign))
	}
	conn, err := nats.Connect(h.Addresses().Clients, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn, problems
}

func subscribe(t testing.TB, conn *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	sub, err := conn.SubscribeSync(subject)
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

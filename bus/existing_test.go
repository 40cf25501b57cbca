package bus

import (
	"errors"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// startExisting starts somebody's own NATS system at `address`. If there are `keys`, the system
// wants one of them.
func startExisting(t *testing.T, address string, keys ...nkeys.KeyPair) *server.Server {
	t.Helper()
	host, port, err := protocol.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	opts := &server.Options{ServerName: "existing", Host: host, Port: anyPort(int(port)), NoSigs: true, NoLog: true}
	for _, key := range keys {
		opts.Nkeys = append(opts.Nkeys, &server.NkeyUser{Nkey: publicKey(t, key)})
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(scratch.Patience()) {
		t.Fatal("the existing system does not start")
	}
	return srv
}

func TestExistingSystem(t *testing.T) {
	for _, asks := range []bool{true, false} {
		name := "asks for no key"
		if asks {
			name = "asks for a key"
		}
		t.Run(name, func(t *testing.T) {
			f := newFleet()
			one, two := newHost(t, f, "white"), newHost(t, f, "oracle-world")
			var keys []nkeys.KeyPair
			if asks {
				keys = []nkeys.KeyPair{one.opts.Key, two.opts.Key}
			}
			srv := startExisting(t, "127.0.0.1:0", keys...)
			for _, h := range []*host{one, two} {
				h.opts.URL = srv.ClientURL()
				h.start(t).awaitLinked(t, 1)
			}
			two.Serve("echo", echo)
			one.publish(t, 1)
			two.await(t, "the message", func() bool { return len(two.messages) == 1 })
			if got, err := one.Ask(askContext(t), two.alias, "echo", []byte("hello")); err != nil || string(got) != "white said hello" {
				t.Errorf("Ask = %q, %v", got, err)
			}
			if l := one.Links(); len(l) != 1 || !l[0].Up || !l[0].Out || l[0].Peer != "existing" || l[0].Since.IsZero() || l[0].RTT <= 0 {
				t.Errorf("Links() = %+v", l)
			}
			if got := one.Addresses(); !reflect.DeepEqual(got, Addresses{}) {
				t.Errorf("Addresses() = %+v, want none", got)
			}
		})
	}
}

// The system is down when the node starts. It comes up and asks for no key. Then it is replaced by
// one that asks for a key.
func TestExistingSystemComesAndChanges(t *testing.T) {
	t.Parallel()
	f := newFleet()
	h := newHost(t, f, "white")
	address := closedPort(t)
	h.opts.URL = "nats://" + address
	h.start(t)
	if l := h.Links(); len(l) != 1 || l[0].Up || l[0].Peer != h.opts.URL || l[0].Since.IsZero() {
		t.Errorf("Links() = %+v, want one that is down", l)
	}
	m, data := message(t, h, 1)
	if err := h.Publish(m, data); !errors.Is(err, ErrNotConnected) {
		t.Errorf("published without a connection: %v", err)
	}
	first := startExisting(t, address)
	h.awaitLinked(t, 1)
	first.Shutdown()
	first.WaitForShutdown()
	awaitTrue(t, "the node hears that nobody can be heard any more", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Contains(h.unlinked, "")
	})
	awaitTrue(t, "the break", func() bool {
		l := onlyLink(t, h)
		return !l.Up && l.Problem == "it cannot be reached: nobody listens there: connection refused"
	})
	startExisting(t, address, h.opts.Key)
	h.awaitLinked(t, 2)
	if err := h.Close(); err != nil { // before the system goes
		t.Error(err)
	}
}

// Linked is asked at every presence of another host, on the goroutine that hands on what comes. So
// it takes no round trip to the system. It prevents: a large fleet that hears everything late,
// because its system is far away.
func TestLinkedAsksNobody(t *testing.T) {
	srv := startExisting(t, "127.0.0.1:0")
	p := newBetween(t, srv.Addr().String())
	h := newHost(t, newFleet(), "white")
	h.opts.URL = "nats://" + p.address
	h.start(t)
	awaitUp(t, h)
	speak := p.silence(t)
	for range 30 { // with a round trip each, the connection would be given up meanwhile
		if !h.Linked() {
			t.Fatal("the system is down before that can be known")
		}
	}
	speak()
}

// A peer that greets with nothing, or without end, is given up.
func TestGreetingIsBounded(t *testing.T) {
	for name, talk := range map[string]func(net.Conn){
		"silence": func(net.Conn) {},
		"no end": func(c net.Conn) {
			for {
				if _, err := c.Write(make([]byte, 4<<10)); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer ours.Close()
			defer theirs.Close()
			go talk(theirs) // ends when the pipe is closed
			if _, err := readGreeting(ours, 50*time.Millisecond); err == nil {
				t.Error("it was taken for a greeting")
			}
		})
	}
}

func FuzzWithNonce(f *testing.F) {
	f.Add([]byte("INFO {\"server_id\":\"a\"}\r\n"))
	f.Add([]byte("INFO {\"nonce\":\"abc\"}\r\nPING\r\n"))
	f.Add([]byte("INFO null\n"))
	f.Add([]byte("-ERR 'no'\r\n"))
	f.Fuzz(func(t *testing.T, greeting []byte) {
		got := withNonce(greeting)
		_, rest, _ := strings.Cut(string(greeting), "\n")
		if !strings.HasSuffix(string(got), rest) {
			t.Errorf("withNonce(%q) = %q, which loses what follows", greeting, got)
		}
		if again := withNonce(got); string(again) != string(got) {
			t.Errorf("withNonce is not stable: %q, then %q", got, again)
		}
	})
}

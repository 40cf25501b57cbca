package bus

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// found changes the options of `h`, so that it can be found as a service.
func found(h *host) *host {
	h.opts.Discovery = Discovery{Version: "1.2.3", Agents: func() int { return 2 }}
	return h
}

// seeker connects an unmodified NATS client to `at`, with the key of `as`. The answers go to the
// inboxes of `as`.
func seeker(t *testing.T, at, as *host) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(at.Addresses().Clients, nats.Nkey(publicKey(t, as.opts.Key), as.opts.Key.Sign),
		nats.CustomInboxPrefix("_INBOX.dawn."+as.alias.String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// lookup asks on `subject`, and waits for `count` answers. It returns them by their hosts.
func lookup[A any](t *testing.T, conn *nats.Conn, subject string, count int, host func(A) string) map[string]A {
	t.Helper()
	inbox := conn.NewInbox()
	answers := subscribe(t, conn, inbox)
	if err := conn.PublishRequest(subject, inbox, nil); err != nil {
		t.Fatal(err)
	}
	all := map[string]A{}
	for range count {
		msg, err := answers.NextMsg(scratch.Patience())
		if err != nil {
			t.Fatalf("%s: %d answers, then %v", subject, len(all), err)
		}
		var answer A
		if err := json.Unmarshal(msg.Data, &answer); err != nil {
			t.Fatalf("%s: %q: %v", subject, msg.Data, err)
		}
		all[host(answer)] = answer
	}
	return all
}

func hostOfPing(p micro.Ping) string   { return p.Metadata["host"] }
func hostOfInfo(i micro.Info) string   { return i.Metadata["host"] }
func hostOfStats(s micro.Stats) string { return s.Metadata["host"] }

func TestHostsAreFoundAsServices(t *testing.T) {
	f := newFleet()
	hub, leaf, third := found(newHost(t, f, "white")), found(newHost(t, f, "oracle-world")), newHost(t, f, "black")
	hub.opts.Listen, leaf.opts.Listen = "127.0.0.1:0", "127.0.0.1:0"
	// The fleet knows that the leaf takes links. So the leaf may carry what others say at its port.
	hub.opts.Hubs = func() []Hub { return []Hub{{Alias: leaf.alias, Addresses: []string{closedAddress}}} }
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	leaf.Serve("echo", echo)
	leaf.Serve("fail", func(_ context.Context, _ protocol.Name, _ []byte) ([]byte, error) { return nil, errors.New("no disk") })
	if _, err := hub.Ask(askContext(t), "oracle-world", "echo", nil); err != nil {
		t.Fatal(err)
	}
	for _, at := range []*host{hub, leaf} { // each at its own server, and across the link
		conn := seeker(t, at, third)
		pings := lookup(t, conn, "$SRV.PING.parley", 2, hostOfPing)
		if got := slices.Sorted(maps.Keys(pings)); !slices.Equal(got, []string{"oracle-world", "white"}) {
			t.Errorf("at %s these answer: %v, want both", at.alias, got)
		}
		ping := pings["oracle-world"]
		want := map[string]string{"host": "oracle-world", "fleet": "dawn", "record": testRecord, "agents": "2", "version": "1.2.3"}
		if ping.Name != "parley" || ping.Version != "1.2.3" || !maps.Equal(ping.Metadata, want) || ping.Type != micro.PingResponseType {
			t.Errorf("ping: %+v", ping)
		}
		info := lookup(t, conn, "$SRV.INFO.parley."+ping.ID, 1, hostOfInfo)["oracle-world"]
		if len(info.Endpoints) != 2 || info.Endpoints[0].Subject != "parley.dawn.*.ask.oracle-world.echo" {
			t.Errorf("info: %+v", info)
		}
		lookup(t, conn, "$SRV.INFO", 2, hostOfInfo)
	}
	if _, err := hub.Ask(askContext(t), "oracle-world", "fail", nil); err == nil {
		t.Fatal("it did not fail")
	}
	stats := lookup(t, seeker(t, hub, third), "$SRV.STATS.parley", 2, hostOfStats)["oracle-world"]
	if len(stats.Endpoints) != 2 || stats.Started.IsZero() || stats.Type != micro.StatsResponseType {
		t.Fatalf("stats: %+v", stats)
	}
	answered, failed := stats.Endpoints[0], stats.Endpoints[1]
	if answered.NumRequests != 1 || answered.NumErrors != 0 || answered.ProcessingTime <= 0 || answered.AverageProcessingTime != answered.ProcessingTime {
		t.Errorf("stats of what was answered: %+v", answered)
	}
	if failed.NumRequests != 1 || failed.NumErrors != 1 || failed.LastError != "no disk" {
		t.Errorf("stats of what failed: %+v", failed)
	}
}

// Without a key nobody asks for services or sees who asks. With a key nobody makes a host speak on
// a subject that is not an inbox.
func TestWhoLooksForServicesCannotDoMore(t *testing.T) {
	f := newFleet()
	hub, third := found(newHost(t, f, "white")), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	stranger, problems := hub.dialAs(t, nil)
	subscribe(t, stranger, "$SRV.>")
	if err := awaited(t, "what the server says", problems); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("a stranger subscribed to $SRV.>: %v", err)
	}
	if err := stranger.PublishRequest("$SRV.PING", "parley.x", nil); err != nil {
		t.Fatal(err)
	}
	if err := awaited(t, "what the server says", problems); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("a stranger asked: %v", err)
	}
	conn := seeker(t, hub, third)
	fleet, services := subscribe(t, conn, "parley.dawn.>"), subscribe(t, conn, "$SRV.x")
	if err := conn.Publish("$SRV.PING.parley", nil); err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{"parley.dawn.white.bell", "parley.dawn.white.hey.x", "$SRV.x", "$SRV.PING"} {
		if err := conn.PublishRequest("$SRV.PING.parley", reply, nil); err != nil {
			t.Fatal(err)
		}
	}
	lookup(t, conn, "$SRV.PING.parley", 1, hostOfPing) // by now the hub has seen the other requests
	for _, sub := range []*nats.Subscription{fleet, services} {
		if n, _, err := sub.Pending(); n != 0 || err != nil {
			t.Errorf("%d words on %s (%v), want none", n, sub.Subject, err)
		}
	}
}

// An existing system may forbid a host to answer those who look for services. It carries the host's
// messages all the same.
func TestExistingSystemMayForbidDiscovery(t *testing.T) {
	f := newFleet()
	one, two := found(newHost(t, f, "white")), found(newHost(t, f, "oracle-world"))
	opts := &server.Options{ServerName: "existing", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}
	allowed := &server.SubjectPermission{Allow: []string{"parley.dawn.>", "_INBOX.dawn.>"}}
	for _, h := range []*host{one, two} {
		opts.Nkeys = append(opts.Nkeys, &server.NkeyUser{
			Nkey: publicKey(t, h.opts.Key), Permissions: &server.Permissions{Subscribe: allowed, Publish: allowed}})
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
	for _, h := range []*host{one, two} {
		h.opts.URL = srv.ClientURL()
		h.start(t).awaitLinked(t, 1)
	}
	one.publish(t, 1)
	two.await(t, "the message", func() bool { return len(two.messages) == 1 })
	if l := two.Links(); len(l) != 1 || !l[0].Up || l[0].Problem != "" {
		t.Errorf("Links() = %+v, want nothing amiss", l)
	}
}

func TestExistingSystemAnswersWhoLooksForServices(t *testing.T) {
	f := newFleet()
	srv := startExisting(t, "127.0.0.1:0")
	for _, alias := range []protocol.Name{"white", "oracle-world"} {
		h := found(newHost(t, f, alias))
		h.opts.URL = srv.ClientURL()
		h.start(t).awaitLinked(t, 1)
	}
	conn, err := nats.Connect(srv.ClientURL()) // as the nats program does
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	lookup(t, conn, "$SRV.PING", 2, hostOfPing)
}

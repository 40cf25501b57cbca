package bus

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

func TestTwoHostsExchangeEverything(t *testing.T) {
	hub, leaf := pair(t)
	for _, way := range []struct{ from, to *host }{{hub, leaf}, {leaf, hub}} {
		from, to := way.from, way.to
		m, data := from.publish(t, 1)
		to.await(t, "the message", func() bool { return len(to.messages) == 1 })
		want := []Incoming{{Sender: from.alias, Subject: from.subjects.Message(m), Path: m.Path, Data: data}}
		if diff := cmp.Diff(want, to.messages, cmp.AllowUnexported(protocol.Path{})); diff != "" {
			t.Errorf("%s received (-want +got):\n%s", to.alias, diff)
		}
		if err := to.PublishHeard([]protocol.Path{m.Path}); err != nil {
			t.Fatal(err)
		}
		from.await(t, "heard", func() bool { return len(from.heard[to.alias]) == 1 && from.heard[to.alias][0] == m.Path })
		if err := to.PublishWoken("mawjs", []protocol.Path{m.Path}); err != nil {
			t.Fatal(err)
		}
		woken := "mawjs@" + to.alias
		from.await(t, "woken", func() bool { return len(from.heard[woken]) == 1 && from.heard[woken][0] == m.Path })
		head := protocol.Head{Host: from.alias, Run: m.Run, Seq: m.Seq, Hash: protocol.Hash(data), Path: m.Path}
		if err := from.PublishHeads([]protocol.Head{head}); err != nil {
			t.Fatal(err)
		}
		to.await(t, "the head", func() bool { return len(to.heads[from.alias]) == 1 && to.heads[from.alias][0] == head })
		if err := from.Ring(); err != nil {
			t.Fatal(err)
		}
		to.await(t, "the bell", func() bool { return to.bells[from.alias] == 1 })
	}
	if n := hub.Dropped() + hub.Offences().Malformed + hub.Offences().Refused + leaf.Dropped() + leaf.Offences().Malformed + leaf.Offences().Refused; n != 0 {
		t.Errorf("%d things were dropped, malformed or refused", n)
	}
}

func TestPresenceTellsAboutTheSender(t *testing.T) {
	hub, leaf := pair(t)
	since := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	said := Presence{Host: "somebody-else", Live: true, Since: since, Version: "1.2.3", Agents: []string{"mawjs", "โอราเคิล"},
		Pushes: true, Run: "0a1b2c3d", Machine: "laptop", Start: 7, At: map[string]string{"mawjs": "running"}}
	if err := leaf.Announce(said); err != nil {
		t.Fatal(err)
	}
	hub.await(t, "presence", func() bool { return len(hub.presence) == 1 })
	got := hub.presence[leaf.alias]
	if got.Seen.IsZero() || got.Seen.Sub(got.Sent).Abs() > time.Second {
		t.Errorf("it was sent at %s and seen at %s", got.Sent, got.Seen)
	}
	want := said
	want.Host, want.Count, want.Sent, want.Seen = leaf.alias, 1, got.Sent, got.Seen
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("presence (-want +got):\n%s", diff)
	}
	if err := leaf.Announce(Presence{At: map[string]string{"mawjs": "a\x1b[31m"}}); err == nil {
		t.Error("what an agent is at was told with an escape in it")
	}
	if err := leaf.Announce(Presence{Agents: []string{"a\x1b[31m"}}); err == nil {
		t.Error("an agent's name with a control character was announced")
	}
}

// The last letter of a node that stops must not be lost with its server.
func TestWhatIsSaidBeforeCloseArrives(t *testing.T) {
	for n := range 6 {
		from, to := pair(t)
		if n%2 == 1 {
			from, to = to, from
		}
		from.publish(t, 1)
		if err := from.Announce(Presence{Live: false}); err != nil {
			t.Fatal(err)
		}
		if err := from.Close(); err != nil {
			t.Fatal(err)
		}
		to.await(t, "the farewell", func() bool { _, ok := to.presence[from.alias]; return ok && len(to.messages) == 1 })
	}
}

func TestHeardIsCutIntoLetters(t *testing.T) {
	hub, leaf := pair(t)
	m, _ := message(t, leaf, 1)
	var paths []protocol.Path
	for n := range uint32(2*maxHeard + 1) {
		paths = append(paths, protocol.NewPath(m.Path.Channel(), m.Timestamp, n))
	}
	if err := leaf.PublishHeard(paths); err != nil {
		t.Fatal(err)
	}
	hub.await(t, "all paths", func() bool { return len(hub.heard[leaf.alias]) == len(paths) })
	if !slices.Equal(paths, hub.heard[leaf.alias]) {
		t.Error("the paths came in another order, or others came")
	}
}

func TestPublishSpeaksOnlyForThisHost(t *testing.T) {
	hub, leaf := pair(t)
	m, data := message(t, leaf, 1)
	if err := hub.Publish(m, data); err == nil {
		t.Error("a message of another host was published")
	}
}

func TestBatchIsWhatQueuedUpMeanwhile(t *testing.T) {
	f := newFleet()
	hub, leaf := newHost(t, f, "white"), newHost(t, f, "oracle-world")
	hub.opts.Listen = "127.0.0.1:0"
	entered, release := make(chan struct{}, 1), make(chan struct{})
	record := hub.opts.Handlers.Message
	hub.opts.Handlers.Message = func(batch []Incoming) {
		select {
		case entered <- struct{}{}:
			<-release
		default:
		}
		record(batch)
	}
	hub.start(t)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	leaf.publish(t, 0)
	awaited(t, "the first message", entered)
	const more = 100
	for n := range more {
		leaf.publish(t, n+1)
	}
	if err := leaf.Ring(); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, "the queue to fill", func() bool {
		hub.queue.mu.Lock()
		defer hub.queue.mu.Unlock()
		return len(hub.queue.next.messages) == more && len(hub.queue.next.letters) == 1
	})
	close(release)
	hub.await(t, "the bell behind all messages", func() bool { return hub.bells[leaf.alias] == 1 })
	if hub.batches != 2 || len(hub.messages) != more+1 {
		t.Errorf("%d messages came in %d batches, want %d in 2", len(hub.messages), hub.batches, more+1)
	}
}

func TestNoPortUnlessAsked(t *testing.T) {
	h := newHost(t, newFleet(), "white").start(t)
	if a := h.server.Addr(); a != nil {
		t.Errorf("the server listens on %s", a)
	}
	if got := h.Addresses(); !reflect.DeepEqual(got, Addresses{}) {
		t.Errorf("Addresses() = %+v, want none", got)
	}
	if got := h.Links(); len(got) != 0 {
		t.Errorf("Links() = %+v, want none", got)
	}
	v, err := h.server.Varz(nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := v.Port + v.HTTPPort + v.HTTPSPort + v.Cluster.Port + v.Gateway.Port + v.LeafNode.Port + v.MQTT.Port + v.Websocket.Port; v.Port == 0 && n != 0 || v.JetStream.Config != nil {
		t.Errorf("the server has other ports or a store: %+v", v)
	}
}

func TestLinksPortWithoutClientsPort(t *testing.T) {
	h := newHost(t, newFleet(), "white")
	h.opts.Links = "127.0.0.1:0"
	h.start(t)
	if a := h.Addresses(); a.Clients != "" || a.Links == "" || a.Links == "127.0.0.1:0" {
		t.Errorf("Addresses() = %+v, want only a links address", a)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	f := newFleet()
	first := newHost(t, f, "white")
	first.opts.Listen = "127.0.0.1:0"
	first.start(t)
	for name, change := range map[string]func(*Options){
		"no alias":          func(o *Options) { o.Alias = "" },
		"no record":         func(o *Options) { o.RecordID = "" },
		"no key":            func(o *Options) { o.Key = nil },
		"no trust":          func(o *Options) { o.Trusted = nil },
		"no server id":      func(o *Options) { o.ServerID = "" },
		"url and listen":    func(o *Options) { o.URL, o.Listen = "nats://127.0.0.1:1", "127.0.0.1:0" },
		"no port":           func(o *Options) { o.Listen = "127.0.0.1" },
		"clients port used": func(o *Options) { o.Listen = first.Addresses().Clients },
		"links port used":   func(o *Options) { o.Links = first.Addresses().Links },
	} {
		t.Run(name, func(t *testing.T) {
			opts := newHost(t, f, "white").opts
			change(&opts)
			b, err := Start(context.Background(), opts)
			if err == nil {
				_ = b.Close()
				t.Fatal("it started")
			}
			t.Log(err)
		})
	}
}

// awaitTrue looks again and again, for what has nothing to wait on.
func awaitTrue(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(scratch.Patience())
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

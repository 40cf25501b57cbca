package bus

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/parleyfleet/parley/protocol"
)

// A burst of 50,000 messages at full speed passes whole. It prevents: a queue that is bounded by
// number and drops what would fit.
func TestBurstAtFullSpeedPassesWhole(t *testing.T) {
	hub, leaf := pair(t)
	for try := 1; !burst(t, hub, leaf, 50_000); try++ {
		if try == 5 {
			t.Fatalf("a link was lost in each of %d bursts", try)
		}
	}
	if hub.Dropped() > 0 {
		t.Errorf("%d were dropped", hub.Dropped())
	}
}

// burst sends messages from `leaf` to `hub`, and reports whether all came by one link. A link that
// says nothing for some seconds, as on a machine that is too busy, is given up. What is under way
// is lost with it.
func burst(t *testing.T, hub, leaf *host, total int) (whole bool) {
	t.Helper()
	hub.mu.Lock()
	hub.messages = nil
	links := hub.linked
	hub.mu.Unlock()
	m, data := message(t, leaf, 1)
	for n := range total {
		m.Seq = uint64(n + 1)
		if err := leaf.Publish(m, data); err != nil {
			t.Fatal(err)
		}
	}
	const part = 1000 // patience is the limit of each part: all parts together may take minutes
	for n := part; n <= total; n += part {
		hub.await(t, fmt.Sprint(n, " messages"), func() bool {
			whole = hub.linked == links
			return len(hub.messages) >= n || !whole
		})
	}
	return whole
}

// A handler that stands still costs messages, which are counted. It costs neither memory nor the
// link. If one host sends too much, there is still room for another host's message.
func TestFullQueueDropsAndCounts(t *testing.T) {
	const lost, held = 100, 50
	f := newFleet()
	hub, leaf, other := newHost(t, f, "white"), newHost(t, f, "oracle-world"), newHost(t, f, "grey")
	m, data := message(t, leaf, 1)
	size := len(data) + messageOverhead
	hub.opts.Links, hub.opts.QueueBytes = "127.0.0.1:0", held*size/2*3+size/2
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
	for _, h := range []*host{leaf, other} {
		h.opts.Hubs = hubsOf(t, hub)
		h.start(t).awaitLinked(t, 1)
	}
	leaf.publish(t, 0)
	awaited(t, "the first message", entered)
	for range held + lost {
		if err := leaf.Publish(m, data); err != nil {
			t.Fatal(err)
		}
	}
	awaitTrue(t, "the drops to be counted", func() bool { return hub.Dropped() == lost })
	other.publish(t, 3)
	awaitTrue(t, "the other's word to wait too", func() bool { return hub.queue.holds(other.alias) })
	close(release)
	hub.await(t, "what was queued", func() bool { return len(hub.messages) == 1+held+1 })
	hub.nothingButMarker(t, leaf, 2)
}

// holds reports whether a message of a host waits.
func (q *queue) holds(from protocol.Name) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.by[from] > 0
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	q := newQueue(0)
	big := Incoming{Sender: "white", Data: make([]byte, maxQueuedBytes/3-messageOverhead)}
	for range 2 {
		if !q.message(big) {
			t.Fatal("the queue refuses what it should hold")
		}
	}
	if q.message(Incoming{Sender: "white", Data: []byte{0}}) {
		t.Error("the queue takes more of one host than its share")
	}
	big.Sender = "grey"
	if !q.message(big) || q.message(Incoming{Sender: "black", Data: []byte{0}}) {
		t.Error("the queue has not room for all its bytes and no more")
	}
	q.linked()
	if got := q.take(); len(got.messages) != 3 || !got.linked {
		t.Errorf("take gave %d messages, linked %v", len(got.messages), got.linked)
	}
	if !q.message(big) {
		t.Error("the queue stays full when it is emptied")
	}
}

// BenchmarkAcrossLink measures the time from Publish on one host to the handler on the other.
// Beside it, it measures a bare NATS request and reply across the same link.
func BenchmarkAcrossLink(b *testing.B) {
	f := newFleet()
	hub, leaf := newHost(b, f, "white"), newHost(b, f, "oracle-world")
	hub.opts.Listen = "127.0.0.1:0"
	arrived := make(chan struct{}, 1)
	hub.opts.Handlers.Message = func([]Incoming) { arrived <- struct{}{} }
	hub.start(b)
	leaf.opts.Hubs = hubsOf(b, hub)
	leaf.start(b)
	hub.awaitLinked(b, 1)
	leaf.awaitLinked(b, 1)
	m, data := message(b, leaf, 1)

	b.Run("publish-receive", func(b *testing.B) {
		for b.Loop() {
			if err := leaf.Publish(m, data); err != nil {
				b.Fatal(err)
			}
			<-arrived
		}
	})
	b.Run("raw-request", func(b *testing.B) {
		echo, err := hub.conn.Subscribe("_INBOX.dawn.white.echo", func(m *nats.Msg) { _ = m.Respond(m.Data) })
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = echo.Unsubscribe() }()
		asker, err := nats.Connect("", nats.InProcessServer(leaf.server), nats.CustomInboxPrefix("_INBOX.dawn.oracle-world"),
			nats.Nkey(leaf.identity().public, leaf.opts.Key.Sign))
		if err != nil {
			b.Fatal(err)
		}
		defer asker.Close()
		awaitTrue(b, "the echo's subscription to cross the link", func() bool {
			_, err := asker.Request("_INBOX.dawn.white.echo", data, time.Second)
			return err == nil
		})
		for b.Loop() {
			if _, err := asker.Request("_INBOX.dawn.white.echo", data, time.Second); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ask", func(b *testing.B) {
		hub.Serve("echo", echo)
		hub.desk.budget.left[leaf.alias] = &purse{rate.NewLimiter(rate.Inf, 0), rate.NewLimiter(1<<60, bytesAtOnce)}
		for b.Loop() {
			if _, err := leaf.Ask(b.Context(), hub.alias, "echo", data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("heard", func(b *testing.B) {
		paths := []protocol.Path{m.Path}
		for b.Loop() {
			if err := leaf.PublishHeard(paths); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package writing

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// A host's paths strictly rise whatever its clock does, so that its chain has one order.
func TestPathsStrictlyRise(t *testing.T) {
	channel := protocol.SystemChannel("record")
	clock := time.Date(2026, 5, 23, 23, 59, 59, 998_000_000, time.UTC)
	h := Head{Suffix: math.MaxUint32, Last: clock}
	var last protocol.Path
	for i := range 20_000 {
		switch i % 1000 {
		case 100:
			clock = clock.Add(3 * time.Millisecond)
		case 200:
			clock = clock.Add(-time.Hour)
		}
		p, at := h.Next(channel, clock)
		if !p.Strict() || !p.Time().Equal(at) {
			t.Fatalf("path %s is not of the strict form or does not state its time %s", p, at)
		}
		if p.Compare(last) <= 0 {
			t.Fatalf("path %d is %s, which does not follow %s", i, p, last)
		}
		if at.Before(clock) {
			t.Fatalf("path %s is before the clock %s", p, clock)
		}
		last = p
	}
	if h.Seq != 20_000 {
		t.Errorf("seq is %d after 20000 messages", h.Seq)
	}
}

// fakeRecord is a record whose fsync does what a test wants.
type fakeRecord func([]gitsync.MessageFile) error

func (f fakeRecord) Append(_ context.Context, messages []gitsync.MessageFile) error {
	return f(messages)
}

// testWriter returns a writer to a fake record. signed gets each message when it is signed.
func testWriter(t *testing.T, store fakeRecord, publish func([]Written)) (w *Writer, signed chan protocol.Path) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	var key atomic.Pointer[homes.Key]
	key.Store(&homes.Key{Pair: pair})
	signed = make(chan protocol.Path, 10)
	return New(Options{
		Host: "a", Limit: 1 << 20, RecordID: "r", Record: store, Publish: publish, SignsWith: &key, Storing: new(sync.RWMutex),
		Examine: func(p protocol.Path, _ []byte) fleet.Examined {
			signed <- p
			return fleet.Examined{}
		},
		Last: func() (*keys.File, bool) { return nil, false },
	}), signed
}

func testDraft(body string) []fleet.Draft {
	m := protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Timestamp: time.Now(), Body: body}
	return []fleet.Draft{{Channel: protocol.SystemChannel("record"), Message: m}}
}

// It prevents: the prev of a message names a message that was never stored, because the first one
// was signed while the fsync of the other one failed.
func TestWhatIsSignedWhileAnFsyncFailsIsSignedAnew(t *testing.T) {
	storing, fail := make(chan struct{}), make(chan struct{})
	var stored []gitsync.MessageFile
	first := true
	w, signed := testWriter(t, func(messages []gitsync.MessageFile) error {
		if first {
			first = false
			close(storing)
			<-fail
			return errors.New("the disk is full")
		}
		stored = append(stored, messages...)
		return nil
	}, func([]Written) {})
	var one, two error
	var asking sync.WaitGroup
	asking.Go(func() { _, one = w.Write(t.Context(), testDraft("one")) })
	<-storing
	lost := <-signed
	asking.Go(func() { _, two = w.Write(t.Context(), testDraft("two")) })
	<-signed // this one stands behind the one that is not stored yet
	close(fail)
	asking.Wait()
	if one == nil || two != nil {
		t.Fatalf("the first: %v; the second: %v", one, two)
	}
	w.Close()
	if len(stored) != 1 {
		t.Fatalf("%d messages are stored", len(stored))
	}
	m, err := protocol.Decode(stored[0].Path, stored[0].Data)
	if err != nil || m.Seq != 1 || m.Prev != "" || m.Path == lost {
		t.Errorf("the second is %+v, %v", m, err)
	}
}

// It prevents: a message is stored, and its sender is told that the node stops.
func TestWhatIsToldWhileTheWriterClosesIsAnswered(t *testing.T) {
	telling, goOn := make(chan struct{}), make(chan struct{})
	w, _ := testWriter(t, func([]gitsync.MessageFile) error { return nil }, func([]Written) {
		close(telling)
		<-goOn
	})
	var err error
	var asking sync.WaitGroup
	asking.Go(func() { _, err = w.Write(t.Context(), testDraft("one")) })
	<-telling
	asking.Go(w.Close)
	<-w.closing
	close(goOn)
	asking.Wait()
	if err != nil {
		t.Errorf("the sender is told: %v", err)
	}
}

// The messages that one fsync serves are folded in one look at the state. Each request gets its own
// messages back, also beside a request that is refused.
func TestABatchIsPublishedAtOnceAndEachRequestGetsItsOwn(t *testing.T) {
	var published [][]Written
	w := &Writer{Options: Options{Publish: func(ws []Written) {
		published = append(published, ws)
		for i := range ws {
			ws[i].Item = &fleet.Item{}
		}
	}}}
	request := func(bodies ...string) *writing {
		r := &writing{done: make(chan struct{})}
		for _, body := range bodies {
			r.written = append(r.written, Written{Message: &protocol.Message{Body: body}})
		}
		return r
	}
	refused := request("x")
	refused.err = errors.New("too long")
	batch := []*writing{request("a"), refused, request("b", "c"), request("d")}
	w.tell(batch)
	if len(published) != 1 || len(published[0]) != 4 {
		t.Fatalf("published %d times, want all four messages at once", len(published))
	}
	for i, want := range []string{"a", "", "bc", "d"} {
		<-batch[i].done
		got := ""
		for _, each := range batch[i].written {
			if each.Item != nil {
				got += each.Message.Body
			}
		}
		if got != want {
			t.Errorf("request %d got %q back as stored, want %q", i, got, want)
		}
	}
}

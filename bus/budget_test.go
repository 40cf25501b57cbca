package bus

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// clock is a time that only a test moves.
type clock struct {
	begin time.Time
	ahead atomic.Int64
}

func (c *clock) now() time.Time           { return c.begin.Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

// A host that has asked too much is told when to ask again. After that time it gets its answer.
// Meanwhile another host is answered. It prevents: a host that has others send it 16 MiB at a time
// for a few hundred bytes.
func TestHostThatAsksTooMuchIsToldToWait(t *testing.T) {
	t.Parallel()
	f := newFleet()
	at := clock{begin: time.Now()}
	hub := newHost(t, f, "white")
	hub.opts.Listen, hub.opts.Now = "127.0.0.1:0", at.now
	hub.start(t).Serve("big", func(context.Context, protocol.Name, []byte) ([]byte, error) { return make([]byte, 1<<19), nil })
	greedy, other := newHost(t, f, "oracle-world"), newHost(t, f, "black")
	for _, h := range []*host{greedy, other} {
		h.opts.Hubs = hubsOf(t, hub)
		h.start(t).awaitLinked(t, 1)
	}
	var busy *BusyError
	asked := 0
	for ; busy == nil && asked < 2*bytesAtOnce/(1<<19); asked++ {
		if _, err := greedy.Ask(askContext(t), hub.alias, "big", nil); err != nil && !errors.As(err, &busy) {
			t.Fatal(err)
		}
	}
	if asked != bytesAtOnce/(1<<19)+1 || busy.Wait < 100*time.Millisecond {
		t.Fatalf("after %d questions: %v", asked, busy)
	}
	if _, err := other.Ask(askContext(t), hub.alias, "big", nil); err != nil {
		t.Errorf("another host: %v", err)
	}
	at.advance(busy.Wait)
	if _, err := greedy.Ask(askContext(t), hub.alias, "big", nil); err != nil {
		t.Errorf("after the time that it was told: %v", err)
	}
}

// Questions are counted, and so are bytes. Both come back with time, whatever the clock does. A
// host that has everything back is forgotten.
func TestBudget(t *testing.T) {
	now := time.Now()
	b := newBudget(func() time.Time { return now })
	for n := range questionsAtOnce {
		if wait := b.ask("eve"); wait != 0 {
			t.Fatalf("question %d has to wait %s", n, wait)
		}
	}
	if wait := b.ask("eve"); wait != time.Second/questionsASecond {
		t.Errorf("one question too many has to wait %s", wait)
	}
	if now = now.Add(-time.Hour); b.ask("eve") == 0 {
		t.Error("a clock that is put back gives something")
	}
	now = now.Add(time.Second / questionsASecond)
	if b.ask("eve") != 0 || b.ask("eve") == 0 {
		t.Error("the time of one question does not give one question")
	}
	b.answered("white", bytesAtOnce)
	b.answered("white", bytesASecond)
	if wait := b.ask("white"); wait != time.Second+time.Second/8 {
		t.Errorf("who got a second's bytes too much has to wait %s", wait)
	}
	now = now.Add(time.Second + time.Second/8)
	if wait := b.ask("white"); wait != 0 {
		t.Errorf("after that it has to wait %s", wait)
	}
	now = now.Add(time.Minute)
	b.ask("new")
	if len(b.left) != 1 {
		t.Errorf("%d hosts are remembered, of which one has asked lately", len(b.left))
	}
}

// Only a bounded number of one host's questions wait for their turn. So there is room for those of
// others.
func TestQuestionsThatWaitAreShared(t *testing.T) {
	b := newBudget(time.Now)
	for range maxQuestions {
		b.queue("eve")
	}
	if b.waiting["eve"] != maxWaiting || !b.queue("white") {
		t.Errorf("%d questions of one host wait, and nobody else's may", b.waiting["eve"])
	}
	for range maxWaiting {
		b.unqueue("eve")
	}
	if len(b.waiting) != 1 {
		t.Errorf("%v are remembered", b.waiting)
	}
}

// Nothing tells who looks for services. So the number of answers is bounded for all together.
func TestLooksForServicesAreBounded(t *testing.T) {
	now := time.Now()
	b := newBudget(func() time.Time { return now })
	got := 0
	for range 2 * looksAtOnce {
		if b.look() {
			got++
		}
	}
	if now = now.Add(time.Second); got != looksAtOnce || !b.look() {
		t.Errorf("%d were answered at once, and none a second later", got)
	}
}

// The wait that another host asks for is taken within bounds.
func TestWaitIsBounded(t *testing.T) {
	for text, want := range map[string]time.Duration{
		string(encodeWait(1500 * time.Millisecond)): 1500 * time.Millisecond,
		string(encodeWait(time.Nanosecond)):         100 * time.Millisecond,
		"-5":                                        100 * time.Millisecond,
		fmt.Sprint(1 << 62):                         16 * time.Second,
		"99999999999999999999":                      16 * time.Second,
		"soon":                                      16 * time.Second,
	} {
		if got := decodeWait([]byte(text)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

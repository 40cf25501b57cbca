package entry

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/protocol"
)

// incoming is the n-th message of a host, with all that holding looks at.
func incoming(host protocol.Name, n, size int) bus.Incoming {
	p := protocol.NewPath(protocol.DeriveChannel("record", host.String()), time.UnixMilli(int64(n)), 1)
	return bus.Incoming{Sender: host, Path: p, Data: make([]byte, size)}
}

// A host that fills what is held pushes out its own messages, never those that other hosts wait
// for. It prevents: a stranger on the bus keeps a new host's first messages from being read.
func TestHeldMessagesAreBounded(t *testing.T) {
	clock := time.Unix(0, 0)
	h := NewHeld(func() time.Time { return clock })
	honest := signedBy{"white", "KEY"}
	for n := range 20 {
		h.Put(incoming(honest.Host, n, 1000), honest.Key)
	}
	for n := range 3 * heldBytes / 100_000 {
		h.Put(incoming("eve", n, 100_000), fmt.Sprint("K", n%7)) // more keys than one host may have
	}
	for n := range 200 {
		h.Put(incoming(protocol.Name(fmt.Sprint("eve", n)), n, 100_000), "K")
	}
	if h.bytes > heldBytes || len(h.by) > heldKeys {
		t.Errorf("%d bytes of %d keys are held", h.bytes, len(h.by))
	}
	got := h.Take(honest)
	if len(got) != 20 || got[0].Path != incoming(honest.Host, 0, 0).Path {
		t.Errorf("%d messages of the honest host are left, want all 20 in their order", len(got))
	}
	for _, who := range h.Signers() {
		h.Take(who)
	}
	if held, dropped := h.Counts(); held != 0 || h.bytes != 0 || dropped == 0 {
		t.Errorf("%d are held in %d bytes after all were taken, %d dropped", held, h.bytes, dropped)
	}
}

// A message that is pushed out is let go of. It prevents: a host first sends many small messages of
// a key that is not known, and then large ones, and the small ones stay in memory behind what
// counts.
func TestHeldMessagesAreLetGoOf(t *testing.T) {
	h := NewHeld(time.Now)
	who := signedBy{"eve", "KEY"}
	for n := range heldShare / weight(incoming(who.Host, 0, 0)) {
		h.Put(incoming(who.Host, n, 0), who.Key)
	}
	all := h.by[who].messages
	h.Put(incoming(who.Host, 0, heldShare/2), who.Key)
	if all[0].Data != nil || all[len(all)-1].Data == nil {
		t.Error("a message that was pushed out is still in memory, or the last one is not")
	}
}

func TestHeldMessagesExpire(t *testing.T) {
	clock := time.Unix(0, 0)
	h := NewHeld(func() time.Time { return clock })
	h.Put(incoming("white", 1, 10), "KEY")
	clock = clock.Add(heldFor + time.Second)
	h.Put(incoming("white", 2, 10), "KEY")
	if got := h.Take(signedBy{"white", "KEY"}); len(got) != 1 || got[0].Path != incoming("white", 2, 0).Path {
		t.Errorf("%d messages are left, want the second alone", len(got))
	}
}

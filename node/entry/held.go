package entry

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// Bounds for what is held of messages whose key is not known yet: how many bytes in all, how
	// many of one key, how many keys, and how many keys of one host.
	heldBytes = 8 << 20
	heldShare = heldBytes / 4
	heldKeys  = 64
	heldOfOne = 4
	// heldFor is how long messages wait for the key. Git brings them in any case.
	heldFor = 2 * time.Minute
)

// Held is messages from the bus that were signed with keys which the record has not brought yet.
// The host may have just joined, or be nobody (DESIGN section 6). They wait here for a while, in no
// more than heldBytes. A key that has more than heldShare loses its own oldest messages. If all
// together exceed heldBytes, the key with the most bytes loses its oldest messages.
type Held struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows
	by      map[signedBy]*heldOf
	bytes   int
	dropped uint64
}

// signedBy is a host, and a key that it is said to have.
type signedBy struct {
	Host protocol.Name
	Key  string
}

// heldOf is what is held of one host and key, oldest first.
type heldOf struct {
	messages []heldMessage
	bytes    int
}

type heldMessage struct {
	bus.Incoming
	at time.Time
}

// NewHeld makes an empty Held.
func NewHeld(now func() time.Time) *Held {
	return &Held{now: now, by: map[signedBy]*heldOf{}}
}

// Put holds a message whose signature fits `key`.
func (h *Held) Put(in bus.Incoming, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire()
	who := signedBy{in.Sender, key}
	of := h.by[who]
	if of == nil {
		if len(h.by) >= heldKeys || h.keysOf(in.Sender) >= heldOfOne {
			h.dropped++
			return
		}
		of = &heldOf{}
		h.by[who] = of
	}
	of.messages = append(of.messages, heldMessage{in, h.now()})
	of.bytes += weight(in)
	h.bytes += weight(in)
	for of.bytes > heldShare {
		h.drop(who)
	}
	for h.bytes > heldBytes {
		h.drop(h.largest())
	}
}

// weight is how many bytes it takes to hold a message.
func weight(in bus.Incoming) int { return len(in.Data) + 512 }

// keysOf is how many keys of one host are waited for. The caller holds mu.
func (h *Held) keysOf(host protocol.Name) (count int) {
	for who := range h.by {
		if who.Host == host {
			count++
		}
	}
	return count
}

// drop takes out the oldest message of a key. The caller holds mu.
func (h *Held) drop(who signedBy) {
	of := h.by[who]
	size := weight(of.messages[0].Incoming)
	of.messages[0] = heldMessage{} // otherwise its bytes would stay in memory as long as the messages that came with it
	of.messages = of.messages[1:]
	of.bytes -= size
	h.bytes -= size
	h.dropped++
	if len(of.messages) == 0 {
		delete(h.by, who)
	}
}

// largest is the key of which most is held. The caller holds mu.
func (h *Held) largest() (who signedBy) {
	most := 0
	for name, of := range h.by {
		if c := cmp.Compare(of.bytes, most); c > 0 || c == 0 && name.Key > who.Key {
			who, most = name, of.bytes
		}
	}
	return who
}

// expire drops what has waited too long. The caller holds mu.
func (h *Held) expire() {
	for who, of := range h.by {
		for len(of.messages) > 0 && h.now().Sub(of.messages[0].at) > heldFor {
			h.drop(who)
		}
	}
}

// Signers are the hosts and keys of what is held.
func (h *Held) Signers() []signedBy {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire()
	return slices.Collect(maps.Keys(h.by))
}

// Take hands over what is held of one key, oldest first.
func (h *Held) Take(who signedBy) (ready []bus.Incoming) {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.by[who]
	if of == nil {
		return nil
	}
	delete(h.by, who)
	h.bytes -= of.bytes
	for _, m := range of.messages {
		ready = append(ready, m.Incoming)
	}
	return ready
}

// Counts returns how many messages are held, and how many were dropped since the start.
func (h *Held) Counts() (held int, dropped uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range h.by {
		held += len(of.messages)
	}
	return held, h.dropped
}

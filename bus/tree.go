package bus

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// tree keeps the links of all hosts free of cycles, which NATS would cut for half a minute each
// time. Every server dials at most one other. So all dials of a cycle have one direction, and one
// of its hosts must dial a host behind it in the alphabet:
//
//   - A host that takes no links is never in a cycle. It may dial any hub.
//   - A host that takes links dials those before it in the alphabet.
//   - It dials those behind it only where it finds none before it, as one does that
//     sits behind a NAT. Such a link up is taken only by a host that has dialled
//     nobody, and as long as it has one that host dials nobody.
//
// So the host at the end of a link up has no dial of its own, and no cycle passes through it. The
// host that takes the link decides alone, under one lock. Who misuses links up loses them: see
// rejoin.
type tree struct {
	mu     sync.Mutex         // guards the fields below
	ups    int                // links up that this host has taken: while there is one, it dials nobody
	out    *outlink           // the link that this host has dialled; nil for none
	abort  context.CancelFunc // ends the dialling that is under way; nil for none
	since  time.Time          // since when there is neither out nor a link up
	change chan struct{}      // closed and replaced when ups has become 0

	refusedUntil time.Time       // until when no link up is taken
	refusedFor   []protocol.Name // hosts whose links up were ended for that: they are not dialled
}

// outlink is the link that this host has dialled.
type outlink struct {
	host    protocol.Name
	key     string
	address string
	end     context.CancelFunc
}

// takeUp takes a link up. It returns false if none can be taken now.
func (t *tree) takeUp(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out != nil || now.Before(t.refusedUntil) {
		return false
	}
	t.ups++
	if t.abort != nil {
		t.abort()
	}
	return true
}

func (t *tree) dropUp(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ups--; t.ups > 0 {
		return
	}
	t.since = now
	close(t.change)
	t.change = make(chan struct{})
}

// begin waits until this host may dial. The context that it returns ends when the host may no
// longer dial, or when `end` is called.
func (t *tree) begin(ctx context.Context) (dialling context.Context, end context.CancelFunc, err error) {
	for {
		t.mu.Lock()
		free, change := t.ups == 0, t.change
		if free {
			dialling, end = context.WithCancel(ctx)
			t.abort = end
		}
		t.mu.Unlock()
		if free {
			return dialling, end, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// commit makes `o` the link that this host has dialled. It returns false if the host has taken a
// link up in the meantime.
func (t *tree) commit(o *outlink) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abort = nil
	if t.ups > 0 {
		return false
	}
	t.out, t.refusedUntil = o, time.Time{}
	return true
}

// lost notes that the link that this host dialled has ended.
func (t *tree) lost(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out, t.since = nil, now
}

// dialled is the link that this host has dialled; nil for none.
func (t *tree) dialled() *outlink {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out
}

// alone is how long this host has had neither a link that it dialled nor a link up.
func (t *tree) alone(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out != nil || t.ups > 0 {
		return 0
	}
	return now.Sub(t.since)
}

func (t *tree) linkedUp() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ups > 0
}

package node

import (
	"context"
	"errors"
	"sync"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// act decides a command and writes what was decided. Commands about the same
// message wait for each other, so that none is answered or receipted twice.
func (n *Node) act(ctx context.Context, c fleet.Command, about protocol.Path) ([]written, error) {
	if !about.IsZero() {
		defer n.once.lock(about)()
	}
	n.mu.Lock()
	drafts, err := n.state.Decide(c, n.now())
	n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return n.writer.write(ctx, drafts)
}

// say is act for what is about no message.
func (n *Node) say(ctx context.Context, c fleet.Command) error {
	_, err := n.act(ctx, c, protocol.Path{})
	return err
}

func isRefusal(err error) bool {
	var r *fleet.Refusal
	return errors.As(err, &r)
}

// onceEach is a lock for each key. The zero value is ready.
type onceEach[K comparable] struct {
	mu   sync.Mutex // guards busy
	busy map[K]*turn
}

type turn struct {
	sync.Mutex
	waiting int
}

// lock waits for its turn at key and returns what ends the turn.
func (o *onceEach[K]) lock(key K) (unlock func()) {
	o.mu.Lock()
	if o.busy == nil {
		o.busy = map[K]*turn{}
	}
	t := o.busy[key]
	if t == nil {
		t = &turn{}
		o.busy[key] = t
	}
	t.waiting++
	o.mu.Unlock()
	t.Lock()
	return func() {
		t.Unlock()
		o.mu.Lock()
		defer o.mu.Unlock()
		if t.waiting--; t.waiting == 0 {
			delete(o.busy, key)
		}
	}
}

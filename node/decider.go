package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// decider carries out commands: the state decides them, then they are written. Commands that must
// not be decided at the same time wait for each other.
type decider struct {
	folded folded.State
	now    func() time.Time
	writer *writer // nil until the record is folded

	once  onceEach[protocol.Path] // answers and receipts, by message
	turns onceEach[affair.ID]     // for commands, by their affair
}

// act decides a command and writes what was decided. Commands about the same message wait for each
// other, so that no message is answered or acknowledged twice.
func (d *decider) act(ctx context.Context, c fleet.Command, about protocol.Path) ([]written, error) {
	if !about.IsZero() {
		defer d.once.lock(about)()
	}
	var drafts []fleet.Draft
	var err error
	d.folded(func(s *fleet.State) { drafts, err = s.Decide(c, d.now()) })
	if err != nil {
		return nil, err
	}
	return d.writer.write(ctx, drafts)
}

// store is act for those who want only the paths of what is stored.
func (d *decider) store(ctx context.Context, c fleet.Command, about protocol.Path) ([]protocol.Path, error) {
	ws, err := d.act(ctx, c, about)
	return writtenPaths(ws), err
}

// say is act for a command that is about no message.
func (d *decider) say(ctx context.Context, c fleet.Command) error {
	_, err := d.act(ctx, c, protocol.Path{})
	return err
}

// actOnEach is act for a command about each of several messages. They must be in the order of their
// paths: so all callers lock them in the same order. What was decided is written together. A
// command that is refused is left out.
func (d *decider) actOnEach(ctx context.Context, messages []protocol.Path, command func(about protocol.Path) fleet.Command) ([]written, error) {
	for _, p := range messages {
		defer d.once.lock(p)()
	}
	var all []fleet.Draft
	var err error
	d.folded(func(s *fleet.State) {
		for _, p := range messages {
			var drafts []fleet.Draft
			if drafts, err = s.Decide(command(p), d.now()); err != nil && !isRefusal(err) {
				return
			}
			all, err = append(all, drafts...), nil
		}
	})
	if err != nil {
		return nil, err
	}
	return d.writer.write(ctx, all)
}

// isRefusal reports whether a rule refuses a command.
func isRefusal(err error) bool {
	_, is := errors.AsType[*fleet.Refusal](err)
	return is
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

// lock waits for its turn at `key`, and returns the function that ends the turn.
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

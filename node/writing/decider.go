package writing

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// Decider carries out commands: the state decides them, then they are written. Commands that must
// not be decided at the same time wait for each other.
type Decider struct {
	folded folded.State
	now    func() time.Time
	writer *Writer
	speaks func(ctx context.Context, name string) error

	once  OnceEach[protocol.Path] // answers and receipts, by message
	turns OnceEach[affair.ID]     // for commands, by their affair
}

// NewDecider makes a decider that has a writer write what is decided. `speaks` is told before
// somebody's message is written.
func NewDecider(read folded.State, now func() time.Time, w *Writer, speaks func(ctx context.Context, name string) error) *Decider {
	return &Decider{folded: read, now: now, writer: w, speaks: speaks}
}

// Called is a command together with what is known of the one who gave it.
func Called(by control.Caller, c fleet.Command) fleet.Command {
	return fleet.Called{Command: c, Because: by.Because, Unattended: by.Kind == control.Unattended}
}

// Act decides a command and writes what was decided. Commands about the same message wait for each
// other, so that no message is answered or acknowledged twice.
func (d *Decider) Act(ctx context.Context, c fleet.Command, about protocol.Path) ([]Written, error) {
	if !about.IsZero() {
		defer d.once.Lock(about)()
	}
	var drafts []fleet.Draft
	var err error
	d.folded(func(s *fleet.State) { drafts, err = s.Decide(c, d.now()) })
	if err != nil {
		return nil, err
	}
	return d.write(ctx, drafts)
}

func (d *Decider) write(ctx context.Context, drafts []fleet.Draft) ([]Written, error) {
	for _, draft := range drafts {
		if err := d.speaks(ctx, draft.Message.From); err != nil {
			return nil, err
		}
	}
	return d.writer.Write(ctx, drafts)
}

// Store is Act for those who want only the paths of what is stored.
func (d *Decider) Store(ctx context.Context, c fleet.Command, about protocol.Path) ([]protocol.Path, error) {
	ws, err := d.Act(ctx, c, about)
	return Paths(ws), err
}

// Say is Act for a command that is about no message.
func (d *Decider) Say(ctx context.Context, c fleet.Command) error {
	_, err := d.Act(ctx, c, protocol.Path{})
	return err
}

// ActOnEach is Act for a command about each of several messages. They must be in the order of their
// paths: so all callers lock them in the same order. What was decided is written together. A
// command that is refused is left out.
func (d *Decider) ActOnEach(ctx context.Context, messages []protocol.Path, command func(about protocol.Path) fleet.Command) ([]Written, error) {
	for _, p := range messages {
		defer d.once.Lock(p)()
	}
	var all []fleet.Draft
	var err error
	d.folded(func(s *fleet.State) {
		for _, p := range messages {
			var drafts []fleet.Draft
			if drafts, err = s.Decide(command(p), d.now()); err != nil && !IsRefusal(err) {
				return
			}
			all, err = append(all, drafts...), nil
		}
	})
	if err != nil {
		return nil, err
	}
	return d.write(ctx, all)
}

// Do carries out a command of an affair. Commands of one affair take turns, from Decide until what
// was decided is folded. So each is given the result of those before it. The error may also say why
// a deed is void: another host may have been faster.
func (d *Decider) Do(ctx context.Context, c affair.Command) ([]protocol.Path, error) {
	return d.carryOut(ctx, c, fleet.Do{Command: c})
}

// DoFor is Do for a caller. It notes what is known of why the caller asks (R13).
func (d *Decider) DoFor(ctx context.Context, by control.Caller, c affair.Command) ([]protocol.Path, error) {
	return d.carryOut(ctx, c, Called(by, fleet.Do{Command: c}))
}

func (d *Decider) carryOut(ctx context.Context, c affair.Command, decided fleet.Command) ([]protocol.Path, error) {
	defer d.turns.Lock(c.ID)()
	deeds, err := d.Act(ctx, decided, protocol.Path{})
	if err != nil {
		return nil, err
	}
	d.folded(func(s *fleet.State) {
		for _, w := range deeds {
			if why := s.Void(w.Item); why != nil {
				err = refusal.New(refusal.Forbidden, "", "%s is written, and does not count: %v", w.Message.Path, why)
				return
			}
		}
	})
	return Paths(deeds), err
}

// IsRefusal reports whether the rules refused a command.
func IsRefusal(err error) bool {
	_, is := errors.AsType[*fleet.Refusal](err)
	return is
}

// OnceEach is a lock for each key. The zero value is ready.
type OnceEach[K comparable] struct {
	mu   sync.Mutex // guards busy
	busy map[K]*turn
}

type turn struct {
	sync.Mutex
	waiting int
}

// Lock waits for its turn at `key`, and returns the function that ends the turn.
func (o *OnceEach[K]) Lock(key K) (unlock func()) {
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

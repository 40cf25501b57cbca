package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

const closeWait = 2 * time.Second

// Bus is one host's place on the bus. Its methods may be called from any goroutine. After Close,
// those that send return ErrClosed.
type Bus struct {
	opts     Options
	subjects protocol.Subjects
	current  atomic.Pointer[identity]
	former   []nkeys.KeyPair // the keys before that, the newest first; only Rekey changes it
	inner    nkeys.KeyPair   // proves our own connection to our own server
	server   *server.Server  // nil if an existing system is used
	tree     *tree
	entrance *entrance // nil if an existing system is used
	dialler  *dialler  // nil if nobody is dialled
	conn     *nats.Conn
	inboxSub *nats.Subscription
	fleetSub *nats.Subscription
	inbox    string // answers to this host arrive below it

	queue      *queue
	links      *links
	system     *system // nil if the server is our own
	desk       *desk
	waiting    waiting
	discover   *discover
	replays    *replays
	quiet      zerolog.Logger // for what others can make this host log
	announcing sync.Mutex     // held from the numbering of a presence until it is sent; guards announced
	announced  uint64         // number of presences sent

	dropped atomic.Uint64
	offences

	ctx      context.Context // ends when Close begins
	cancel   context.CancelFunc
	workers  sync.WaitGroup
	teardown stack
	close    sync.Once
	closed   error
}

// ErrClosed says that the bus was closed. ErrNotConnected says that the existing system was never
// reached since Start. Later breaks are bridged, for up to 8 MiB of what is published.
var (
	ErrClosed       = errors.New("the bus is closed")
	ErrNotConnected = errors.New("the NATS system cannot be reached yet")
)

// Start starts the server, or dials the existing system, and subscribes to the fleet. When it
// returns, the server is ready and this host is subscribed. Links are retried for ever, and so is
// the connection to an existing system that cannot be reached. `ctx` bounds only the start: Close
// ends the bus.
func Start(ctx context.Context, opts Options) (*Bus, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("cannot start the bus: %w", err)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	b, err := newBus(opts)
	if err != nil {
		return nil, fmt.Errorf("cannot start the bus: %w", err)
	}
	if err := b.start(ctx); err != nil {
		return nil, fmt.Errorf("cannot start the bus: %w", errors.Join(err, b.Close()))
	}
	return b, nil
}

func newBus(opts Options) (*Bus, error) {
	inner, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cannot make a key for the server: %w", err)
	}
	b := &Bus{
		opts:     opts,
		former:   opts.Former,
		inner:    inner,
		tree:     &tree{since: time.Now(), change: make(chan struct{})},
		subjects: protocol.Subjects{Fleet: opts.Fleet},
		inbox:    newInbox(opts.Login.InboxPrefix, opts.Fleet, opts.Alias),
		queue:    newQueue(opts.QueueBytes),
		waiting:  waiting{asks: map[string]chan *nats.Msg{}},
		replays:  newReplays(),
		quiet:    quiet(opts.Log),
		offences: offences{now: opts.Now, log: opts.Log},
	}
	b.desk = &desk{Bus: b, questions: make(chan question, maxQuestions), services: newServices(opts.Services), budget: newBudget(opts.Now)}
	if err := b.setIdentity(opts.Key); err != nil {
		return nil, err
	}
	b.links = &links{bus: b, wake: make(chan struct{}, 1), known: map[uint64]Link{}, down: opts.Now()}
	b.discover = &discover{bus: b, id: rand.Text(), started: opts.Now().UTC(), asked: map[protocol.Name]micro.EndpointStats{}}
	if opts.URL != "" {
		b.system = &system{bus: b, came: make(chan struct{}, 1), down: opts.Now()}
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.teardown.push("end of the workers", b.wait)
	return b, nil
}

func (b *Bus) start(ctx context.Context) error {
	if b.opts.URL == "" {
		if err := b.startServer(ctx); err != nil {
			return err
		}
	}
	if err := b.connect(ctx); err != nil {
		return err
	}
	if err := b.subscribe(ctx); err != nil {
		return err
	}
	b.workers.Go(b.dispatch)
	b.workers.Go(b.desk.answerAll)
	b.workers.Go(b.watchLinks)
	return nil
}

// subscribe waits until the server knows our subscriptions, if there is a connection.
func (b *Bus) subscribe(ctx context.Context) error {
	var err error
	if b.inboxSub, err = b.conn.Subscribe(b.inbox+".*", b.waiting.answered); err != nil {
		return fmt.Errorf("cannot subscribe to answers: %w", err)
	}
	if b.fleetSub, err = b.conn.Subscribe(b.subjects.All(), b.arrived); err != nil {
		return fmt.Errorf("cannot subscribe to the fleet: %w", err)
	}
	// This buffer is emptied at once. The queue behind it counts bytes too.
	if err := b.fleetSub.SetPendingLimits(-1, maxUnsortedBytes); err != nil {
		return fmt.Errorf("cannot bound what arrives: %w", err)
	}
	if err := b.discover.subscribe(); err != nil {
		return err
	}
	if !b.conn.IsConnected() {
		return nil
	}
	limit := startWait
	if b.server == nil {
		limit = flushWait
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := b.conn.FlushWithContext(ctx); err != nil && b.server != nil {
		return fmt.Errorf("cannot subscribe to the fleet: %w", err)
	}
	return nil
}

// wait waits up to closeWait for the workers to end and, through them, for a handler that still
// runs.
func (b *Bus) wait() error {
	if !within(closeWait, b.workers.Wait) {
		return errors.New("a handler is still running")
	}
	return nil
}

// within reports whether `what` ends in time. It goes on in any case.
func within(limit time.Duration, what func()) bool {
	done := make(chan struct{})
	go func() { // ends with what
		what()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

// Close sends what was published, for at most 2 s, leaves the fleet and stops the server. It drops
// what has not reached the handlers by then. It may be called again, and returns the same.
func (b *Bus) Close() error {
	b.close.Do(func() {
		b.cancel()
		if err := b.teardown.unwind(); err != nil {
			b.closed = fmt.Errorf("cannot close the bus cleanly: %w", err)
		}
	})
	return b.closed
}

// Links are the links to other servers, in the order of their peers. Links that should be up and
// are not are among them.
func (b *Bus) Links() []Link {
	if b.system != nil {
		return []Link{b.system.link()}
	}
	return b.links.list()
}

// Linked reports whether one of the Links is up. It asks nobody, so it is fast.
func (b *Bus) Linked() bool {
	if b.system != nil {
		return b.system.up()
	}
	return slices.ContainsFunc(b.Links(), func(l Link) bool { return l.Up })
}

func (b *Bus) watchLinks() {
	if b.system != nil {
		b.system.watch()
		return
	}
	b.links.watch()
}

// Dropped counts the messages, letters and questions that were lost here because they came faster
// than they were handled. Lost messages are asked for again, or come by git.
func (b *Bus) Dropped() uint64 {
	lost := b.dropped.Load()
	if n, err := b.fleetSub.Dropped(); err == nil && n > 0 {
		lost += uint64(n)
	}
	return lost
}

// tally counts what is under way. Unlike a WaitGroup, it may be entered while somebody waits.
type tally struct{ atomic.Int32 }

// wait waits until nothing is under way, for at most `most`.
func (t *tally) wait(most time.Duration) {
	for end := time.Now().Add(most); t.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// stack is what must be undone, the last thing first. Start fills it, and it is unwound once.
type stack []step

type step struct {
	name string
	undo func() error
}

func (s *stack) push(name string, undo func() error) { *s = append(*s, step{name, undo}) }

// unwind undoes everything, whatever fails on the way.
func (s *stack) unwind() error {
	var errs []error
	for _, last := range slices.Backward(*s) {
		if err := last.undo(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", last.name, err))
		}
	}
	return errors.Join(errs...)
}

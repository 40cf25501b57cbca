package node

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// askWait is how long a host is waited for that is asked about itself: far above
// any round trip, and as long as a person waits gladly.
const askWait = 2 * time.Second

// asker asks other hosts by the bus.
type asker struct {
	bus   func() *bus.Bus // nil where there is none
	live  *live
	now   func() time.Time
	later chan func(context.Context) // questions that the bus's goroutine must not wait for
}

func newAsker(bus func() *bus.Bus, l *live, now func() time.Time) *asker {
	return &asker{bus: bus, live: l, now: now, later: make(chan func(context.Context), maxAside)}
}

// ping asks a host for its time.
func (a *asker) ping(ctx context.Context, host protocol.Name) (control.Ping, error) {
	asked := a.now()
	answer, took, err := a.ask(ctx, host, questionPing)
	if err != nil {
		return control.Ping{Alias: host, RTT: control.Seconds(took)}, err
	}
	a.live.measure(host, took)
	pong, err := protocol.DecodePong(answer)
	clock := pong.Now.Sub(asked.Add(took / 2))
	return control.Ping{Alias: host, RTT: control.Seconds(took), Clock: control.Seconds(clock), Version: pong.Version}, err
}

// ask asks a host a question, and says how long the answer took.
func (a *asker) ask(ctx context.Context, host, what protocol.Name) (answer []byte, took time.Duration, err error) {
	b := a.bus()
	if b == nil {
		return nil, 0, ErrDraining
	}
	begin := time.Now()
	answer, err = b.Ask(ctx, host, what, nil)
	return answer, time.Since(begin), err
}

// answers reports whether a host answers now.
func (a *asker) answers(ctx context.Context, host protocol.Name) bool {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	_, err := a.ping(ctx, host)
	return err == nil || hasAnswered(err)
}

// maxAside is how many questions wait to be put aside; more are not asked.
const maxAside = 64

// aside has something asked beside the goroutine of the bus, until the node goes down.
func (a *asker) aside(ask func(context.Context)) {
	select {
	case a.later <- ask:
	default:
	}
}

// run runs what aside was given until ctx ends.
func (a *asker) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		select {
		case ask := <-a.later:
			running.Go(func() { ask(ctx) }) // ends with its answer, or ctx
		case <-ctx.Done():
			return
		}
	}
}

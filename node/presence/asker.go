package presence

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// errStopping says that there is no bus any more that could carry questions.
var errStopping = control.Errorf(control.KindUnavailable, "start it again: parley up -d", "the node is stopping")

// AskWait is how long an answer is waited for if a host is asked about itself. It is far above any
// round trip, and as long as a person likes to wait.
const AskWait = 2 * time.Second

// The questions about a host itself that every node answers on the bus.
const (
	QuestionPing        = protocol.Name("ping")
	QuestionStatus      = protocol.Name("status")
	QuestionCertificate = protocol.Name("certificate")
)

// Asker asks other hosts by the bus.
type Asker struct {
	bus   func() *bus.Bus // nil if there is no bus
	live  *Live
	now   func() time.Time
	later chan func(context.Context) // questions that the bus's goroutine must not wait for
}

// NewAsker makes an Asker that asks by the bus that `bus` returns; nil means that there is no bus.
// Round trips are noted in `l`.
func NewAsker(bus func() *bus.Bus, l *Live, now func() time.Time) *Asker {
	return &Asker{bus: bus, live: l, now: now, later: make(chan func(context.Context), maxAside)}
}

// Ping asks a host for its time.
func (a *Asker) Ping(ctx context.Context, host protocol.Name) (control.Ping, error) {
	asked := a.now()
	answer, took, err := a.Ask(ctx, host, QuestionPing)
	if err != nil {
		return control.Ping{Alias: host, RTT: control.Seconds(took)}, err
	}
	a.live.measure(host, took)
	pong, err := protocol.DecodePong(answer)
	clock := pong.Now.Sub(asked.Add(took / 2))
	return control.Ping{Alias: host, RTT: control.Seconds(took), Clock: control.Seconds(clock), Version: pong.Version}, err
}

// Ask asks a host a question, and says how long the answer took.
func (a *Asker) Ask(ctx context.Context, host, what protocol.Name) (answer []byte, took time.Duration, err error) {
	return a.AskAbout(ctx, host, what, nil)
}

// AskAbout is Ask for a question that needs a request.
func (a *Asker) AskAbout(ctx context.Context, host, what protocol.Name, request []byte) (answer []byte, took time.Duration, err error) {
	b := a.bus()
	if b == nil {
		return nil, 0, errStopping
	}
	begin := time.Now()
	answer, err = b.Ask(ctx, host, what, request)
	return answer, time.Since(begin), err
}

func (a *Asker) answers(ctx context.Context, host protocol.Name) bool {
	ctx, cancel := context.WithTimeout(ctx, AskWait)
	defer cancel()
	_, err := a.Ping(ctx, host)
	return err == nil || HasAnswered(err)
}

// maxAside is how many questions may wait for Run; further ones are dropped.
const maxAside = 64

// aside has a question asked outside of the bus's goroutine, until the node goes down.
func (a *Asker) aside(ask func(context.Context)) {
	select {
	case a.later <- ask:
	default:
	}
}

// Run runs what aside was given, until `ctx` ends.
func (a *Asker) Run(ctx context.Context) {
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

// HasAnswered reports whether a host did answer, even if its answer only says why it does not tell
// what was asked.
func HasAnswered(err error) bool {
	return errors.As(err, new(*bus.AnswerError)) || errors.As(err, new(*bus.BusyError))
}

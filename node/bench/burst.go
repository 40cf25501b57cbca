package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
)

func burstMeasure() Measure {
	return Measure{
		Name: "burst", What: "as many messages to another host as go out", take: takeBurst,
		Figures: []Spec{
			{Name: "burst_rate", Unit: "/s", What: "64 senders on one host, 50,000 messages: a second until the other host received the last", Better: Higher,
				Beside: "as many bytes as often over bare NATS across such a link, kept by nobody", Aim: 5000, AimOn: OnValue, Full: true},
			{Name: "burst_wrong", Unit: "", What: "of those, what the other host's record has not exactly once", Better: Lower,
				Beside: "messages sent", Aim: 0, AimOn: OnValue},
			{Name: "burst_bus", Unit: "%", What: "of those, what came live; git brought the rest", Better: Higher},
		},
	}
}

func takeBurst(ctx context.Context, s *stand) (_ readings, err error) {
	many, came := s.count(50_000, 2000), newArrivals()
	pair, err := s.startHosts(ctx, wantedHosts{size: 2, log: func(i int) zerolog.Logger {
		if i == 0 {
			return zerolog.Nop()
		}
		return came.log()
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	began := time.Now()
	paths, err := s.sendMany(ctx, pair.nodes[0], pair.nodes[1].human, many)
	if err != nil {
		return nil, err
	}
	whole, err := s.awaitArrivals(ctx, paths, came)
	if err != nil {
		return nil, err
	}
	here, byBus, last := came.count(paths)
	wrong, note, err := wrongAtLast(ctx, pair.nodes[1], paths)
	if err != nil {
		return nil, err
	}
	rate := reading{value: perSecond(here, last.Sub(began))}
	if !whole {
		rate.note = fmt.Sprintf("%d messages had not come after %s", many-here, patience)
	}
	if s.options.Quick {
		note = strings.Trim(fmt.Sprintf("%d messages; %s", many, note), "; ")
	}
	if rate.yardstick, err = s.bareDeliveries(ctx, 1, many); err != nil {
		return nil, err
	}
	return readings{
		"burst_rate":  rate,
		"burst_wrong": {value: float64(wrong), yardstick: float64(many), note: note},
		"burst_bus":   {value: 100 * float64(byBus) / float64(many)},
	}, nil
}

// bareDeliveries is how many deliveries bare NATS makes in a second, from a hub to some spokes. It
// is 0 if NATS lost some.
func (s *stand) bareDeliveries(ctx context.Context, spokes, many int) (float64, error) {
	s.progress("the same over bare NATS", 0, 0)
	like, err := s.lettersOfADay(ctx, "bench", 1)
	if err != nil {
		return 0, err
	}
	took, err := natsDeliveries(ctx, spokes, like[0].Data, many)
	if err != nil || took == 0 {
		return 0, err
	}
	return perSecond(many*spokes, took), nil
}

// sendMany has 64 senders on one host say `many` things to someone, as fast as they can,
// and returns the paths.
func (s *stand) sendMany(ctx context.Context, n *runningNode, to string, many int) (map[string]bool, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var mu sync.Mutex // guards paths
	paths := make(map[string]bool, many)
	var next atomic.Int64
	var sending sync.WaitGroup
	for i := range senders {
		sending.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(i)))
			for ctx.Err() == nil {
				at := next.Add(1)
				if at > int64(many) {
					return
				}
				if at%500 == 0 {
					s.progress("sending with 64 senders", int(at), many)
				}
				m, err := control.Send.Ask(ctx, n, control.SendRequest{As: n.human, To: []string{to}, Body: text(random)})
				if err != nil {
					fail(err)
					return
				}
				mu.Lock()
				paths[m.Path.String()] = true
				mu.Unlock()
			}
		})
	}
	sending.Wait()
	return paths, context.Cause(ctx)
}

// settleTime is how long what has come in may take until it is in a record.
const settleTime = 10 * time.Second

// wrongAtLast is wrongAt as soon as nothing is wrong, or else after settleTime: what has come is
// stored a moment later.
func wrongAtLast(ctx context.Context, n *runningNode, paths map[string]bool) (wrong int, note string, err error) {
	settling, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	_ = until(settling, "all is in the record", 200*time.Millisecond, func() (bool, error) { // if it never is, `wrong` says so
		wrong, note, err = wrongAt(ctx, n, paths)
		return wrong == 0, err
	})
	return wrong, note, err
}

// wrongAt counts what a node shows of these messages not exactly once.
func wrongAt(ctx context.Context, n *runningNode, paths map[string]bool) (wrong int, note string, err error) {
	seen := make(map[string]int, len(paths))
	err = control.Log.Ask(ctx, n, control.LogRequest{}, func(m control.Message) error {
		if p := m.Path.String(); paths[p] {
			seen[p]++
		}
		return nil
	})
	if err != nil {
		return 0, "", err
	}
	double := 0
	for _, times := range seen {
		if times > 1 {
			double++
		}
	}
	missing := len(paths) - len(seen)
	if wrong = missing + double; wrong > 0 {
		note = fmt.Sprintf("%d missing, %d double", missing, double)
	}
	return wrong, note, nil
}

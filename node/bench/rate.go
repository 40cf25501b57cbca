package bench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

func rateMeasure() Measure {
	return Measure{
		Name: "rate", What: "an agent of which eight commands may run has more to do than it can", take: takeRate,
		Figures: []Spec{
			{Name: "dispatch_rate", Unit: "/s", What: "messages that an agent with eight commands at a time has answered, a second", Better: Higher,
				Beside: "its command alone, eight at a time", Aim: 200, AimOn: OnValue},
		},
	}
}

func takeRate(ctx context.Context, s *stand) (_ readings, err error) {
	n, err := s.startAnswering(ctx, "host", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	const atOnce = 8
	agent := control.SetAgentRequest{Name: "echo", Tiers: []control.AgentTier{{Name: "default", Exec: answering + " done", Count: atOnce}}}
	if _, err := control.SetAgent.Ask(ctx, n, agent); err != nil {
		return nil, err
	}
	many := s.count(2000, 200)
	began := time.Now()
	paths, err := s.sendMany(ctx, n, "echo", many)
	if err != nil {
		return nil, err
	}
	answered := 0
	for p := range paths {
		s.progress("awaiting answers", answered, many)
		if _, err := control.Wait.Ask(ctx, n, control.WaitRequest{Re: p, Within: patience}); err != nil {
			return nil, err
		}
		answered++
	}
	took := time.Since(began)
	alone, err := commandsAlone(ctx, many, atOnce)
	if err != nil {
		return nil, err
	}
	return readings{"dispatch_rate": {value: perSecond(many, took), yardstick: perSecond(many, alone)}}, nil
}

// commandsAlone is how long `many` runs of the answering agent's command take, `atOnce` of them at
// the same time.
func commandsAlone(ctx context.Context, many, atOnce int) (time.Duration, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for range atOnce {
		running.Go(func() {
			for next.Add(1) <= int64(many) && ctx.Err() == nil {
				if err := runAlone(ctx); err != nil {
					fail(err)
				}
			}
		})
	}
	running.Wait()
	return time.Since(began), context.Cause(ctx)
}

func socketMeasure() Measure {
	return Measure{
		Name: "socket", What: "64 programs send through the control socket as fast as they can", take: takeSocket,
		Figures: []Spec{
			{Name: "socket_rate", Unit: "/s", What: "messages a second that 64 programs send through the control socket, each stored when it is answered", Better: Higher,
				Beside: "append and fsync of each, one at a time", Aim: 12_000, AimOn: OnValue, Full: true},
		},
	}
}

func takeSocket(ctx context.Context, s *stand) (_ readings, err error) {
	n, err := s.startAnswering(ctx, "host", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	many := s.count(100_000, 5000)
	var next atomic.Int64
	var sending sync.WaitGroup
	sendingCtx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	began := time.Now()
	for range senders {
		client := control.NewClient(n.home.Socket(), version)
		sending.Go(func() {
			for sendingCtx.Err() == nil {
				at := next.Add(1)
				if at > int64(many) {
					return
				}
				if at%500 == 0 {
					s.progress("sending", int(at), many)
				}
				if _, err := control.Send.Ask(sendingCtx, client, control.SendRequest{As: n.human, To: []string{"visitor"}, Body: "a question", Anyway: true}); err != nil {
					fail(err)
				}
			}
		})
	}
	sending.Wait()
	took := time.Since(began)
	if err := context.Cause(sendingCtx); err != nil {
		return nil, err
	}
	letters, err := s.lettersOfADay(ctx, "bench", s.count(2000, 500))
	if err != nil {
		return nil, err
	}
	bare, err := s.bareRate(letters)
	return readings{"socket_rate": {value: perSecond(many, took), yardstick: bare}}, err
}

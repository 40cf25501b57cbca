package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

func pushesMeasure() Measure {
	return Measure{
		Name: "pushes", What: fmt.Sprintf("%d linked hosts store 1,000 messages in 60 s", fleetSize), take: takePushes,
		Figures: []Spec{
			{Name: "pushes_60s", Unit: "", What: fmt.Sprintf("pushes that %d linked hosts use for 1,000 messages in 60 s", fleetSize), Better: Lower,
				Beside: "messages: one push each"},
		},
	}
}

func takePushes(ctx context.Context, s *stand) (_ readings, err error) {
	if s.options.Quick {
		return nil, skipped("it takes more than a minute: not in a quick run")
	}
	h, err := s.startHosts(ctx, wantedHosts{size: fleetSize})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	const n, whole = 1000, time.Minute
	before, err := h.shared.pushes()
	if err != nil {
		return nil, err
	}
	sent := &sentMessages{at: map[string]time.Time{}}
	random := rand.New(rand.NewPCG(3, 0))
	began := time.Now()
	for i := range n {
		if i%10 == 0 {
			s.progress("storing now and then", i, n)
		}
		select {
		case <-time.After(time.Until(began.Add(whole * time.Duration(i) / n))):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if err := h.say(ctx, i%len(h.nodes), random, sent); err != nil {
			return nil, err
		}
	}
	if missing, err := h.awaitPushed(ctx, s, sent); err != nil || missing > 0 {
		return nil, errors.Join(err, fmt.Errorf("%d messages did not reach the shared repository", missing))
	}
	after, err := h.shared.pushes()
	if err != nil {
		return nil, err
	}
	return readings{"pushes_60s": {value: float64(len(after) - len(before)), yardstick: n}}, nil
}

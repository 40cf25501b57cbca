package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

func claimsMeasure() Measure {
	return Measure{
		Name: "claims", What: "hosts settle at the shared repository which of them does an agent's work", take: takeClaims,
		Figures: []Spec{
			{Name: "claims_rate", Unit: "/s", What: "claims of an agent's work on a message, one after the other, a second", Better: Higher,
				Beside: `"git add", "git commit" and "git push" of one message`},
		},
	}
}

func takeClaims(ctx context.Context, s *stand) (_ readings, err error) {
	push, err := s.tools.pushTime(ctx)
	if err != nil {
		return nil, err
	}
	shared, err := s.newShared(ctx)
	if err != nil {
		return nil, err
	}
	home, err := newHome(ctx, s.path("home"), func(o *homes.Options) { o.Remote = shared.dir })
	if err != nil {
		return nil, err
	}
	r, err := gitsync.Open(ctx, gitsync.Options{Dir: home.Dir, Remote: shared.dir, Author: gitsync.Author{Name: hostName(0).String(), Email: "bench@localhost"}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	many := s.count(200, 20)
	channel := protocol.DeriveChannel(r.ID(), "bench")
	began := time.Now()
	for i := range many {
		s.progress("claiming", i, many)
		name := protocol.ClaimName(protocol.NewPath(channel, began, uint32(i)), "echo", 0)
		mine, err := r.Claim(ctx, name, "bench")
		if err != nil {
			return nil, err
		}
		if !mine {
			return nil, fmt.Errorf("cannot claim %s: another host has it, and there is none", name)
		}
	}
	return readings{"claims_rate": {value: perSecond(many, time.Since(began)), yardstick: perSecond(1, push)}}, nil
}

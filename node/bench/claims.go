package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
				Beside: `"git push" of one commit to a new ref of that repository, by the git program alone`},
		},
	}
}

func takeClaims(ctx context.Context, s *stand) (_ readings, err error) {
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
	bare, err := s.newPusher(ctx, shared.dir)
	if err != nil {
		return nil, err
	}
	many := s.count(200, 20)
	channel := protocol.DeriveChannel(r.ID(), "bench")
	var claiming, pushing time.Duration
	for i := range many {
		s.progress("claiming", i, many)
		name := protocol.ClaimName(protocol.NewPath(channel, time.Now(), uint32(i)), "echo", 0)
		began := time.Now()
		mine, err := r.Claim(ctx, name, "bench")
		claiming += time.Since(began)
		if err != nil {
			return nil, err
		}
		if !mine {
			return nil, fmt.Errorf("cannot claim %s: another host has it, and there is none", name)
		}
		took, err := bare.push(ctx, i)
		if err != nil {
			return nil, err
		}
		pushing += took
	}
	return readings{"claims_rate": {value: perSecond(many, claiming), yardstick: perSecond(many, pushing)}}, nil
}

// pusher pushes commits with nothing but the git program.
type pusher struct {
	tools   *tools
	dir, to string
	nothing string // the tree without files
}

// newPusher makes one that pushes to a repository, from one of its own.
func (s *stand) newPusher(ctx context.Context, to string) (*pusher, error) {
	p := &pusher{tools: s.tools, dir: s.path("pusher.git"), to: to}
	if _, err := p.tools.run(ctx, s.dir, "init", "--quiet", "--bare", p.dir); err != nil {
		return nil, err
	}
	tree, err := p.tools.run(ctx, p.dir, "mktree") // the tree without anything in it
	p.nothing = strings.TrimSpace(tree)
	return p, err
}

// push pushes a new commit to a ref that is not there, and returns how long that took.
func (p *pusher) push(ctx context.Context, number int) (time.Duration, error) {
	commit, err := p.tools.run(ctx, p.dir, "commit-tree", p.nothing, "-m", fmt.Sprint(number))
	if err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = p.tools.run(ctx, p.dir, "push", "--quiet", p.to, fmt.Sprintf("%s:refs/bench/%d", strings.TrimSpace(commit), number))
	return time.Since(began), err
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// Party is what "parley bench party" measures: how soon one sees who is in parties if there are
// many, and how soon all members of one are told something.
func Party() Suite {
	return Suite{Name: "party", Measures: []Measure{crowdMeasure(), tellMeasure()}}
}

func crowdMeasure() Measure {
	const of = "of 200 parties with 1,000 members, all of them scored"
	figure := func(name, what string, aim float64) Spec {
		return Spec{
			Name: name, Unit: "ms", What: what + ", " + of, Better: Lower, Beside: "the shortest question to the same node, its status: median", Aim: aim, AimOn: OnValue, Full: true,
		}
	}
	return Measure{
		Name: "crowd", What: "who is in parties is asked where there are many", take: takeCrowd,
		Figures: []Spec{
			{Name: "crowd_first", Unit: "ms", What: "the first graph after a start, when all is folded, " + of, Better: Lower, Beside: "the shortest question to the same node, its status: median"},
			figure("crowd_who", "one party (who): median", 50),
			figure("crowd_mesh", "the graph of all of them (mesh --json): median", 50),
			figure("crowd_team", "a team of 20 of them (team): median", 50),
		},
	}
}

// takeCrowd starts a node as a process of its own on a record with parties, and asks it.
func takeCrowd(ctx context.Context, s *stand) (_ readings, err error) {
	if len(s.options.Command) == 0 {
		return nil, skipped("this program cannot start parley")
	}
	c, err := newCrowd(s.count(200, 20), 5, s.count(100, 20))
	if err != nil {
		return nil, err
	}
	home, err := newHome(ctx, s.path("home"), func(o *homes.Options) { o.Now = func() time.Time { return c.began } })
	if err != nil {
		return nil, err
	}
	if _, err := s.fillWith(ctx, home, len(c.written), c.write); err != nil {
		return nil, err
	}
	if err := s.serveCrowd(ctx, home, c); err != nil {
		return nil, err
	}
	p, err := s.startProcess(ctx, home)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.kill())
		}
	}()
	err = until(ctx, "a node answered", time.Millisecond, func() (bool, error) {
		if err := p.running(); err != nil {
			return false, err
		}
		_, err := control.ShowStatus.Ask(ctx, p.client)
		return answered(err)
	})
	if err != nil {
		return nil, err
	}
	taken, err := s.askCrowd(ctx, p.client, c)
	if err != nil {
		return nil, err
	}
	return taken, p.stop(ctx)
}

// serveCrowd has the host serve the agents of the parties.
func (s *stand) serveCrowd(ctx context.Context, home configs.Home, c *crowd) (err error) {
	n, err := runNode(ctx, home, zerolog.Nop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	for i := range c.agents {
		s.progress("serving agents", i, c.agents)
		if _, err := control.AddAgent.Ask(ctx, n, control.AddAgentRequest{Name: crowdAgent(i), Inbox: true}); err != nil {
			return err
		}
	}
	return s.rest(ctx, n)
}

// askCrowd asks a node about the parties, over its socket as a command does.
func (s *stand) askCrowd(ctx context.Context, n control.Service, c *crowd) (readings, error) {
	mesh := func() error {
		return control.ShowMesh.Ask(ctx, n, control.MeshRequest{}, func(m control.Mesh) error {
			scored := 0
			for _, e := range m.Edges {
				if e.Data.Synced {
					scored++
				}
			}
			if len(m.Edges) != c.parties*c.members || scored != c.parties*(c.members-1) {
				return fmt.Errorf("the graph has %d edges and %d scores", len(m.Edges), scored)
			}
			return nil
		})
	}
	questions := []struct {
		figure string
		many   int
		ask    func() error
	}{
		{"crowd_first", 1, mesh},
		{"", 30, func() error { // the yardstick
			_, err := control.ShowStatus.Ask(ctx, n)
			return err
		}},
		{"crowd_mesh", s.count(30, 5), mesh},
		{"crowd_who", s.count(30, 5), func() error {
			p, err := control.ShowParty.Ask(ctx, n, control.PartyRequest{Viewing: control.Viewing{For: crowdAgent(0)}, Party: crowdParty(0)})
			if err == nil && (len(p.Members) != c.members || p.Synced != c.members-1) {
				err = fmt.Errorf("the party has %d members and %d scores", len(p.Members), p.Synced)
			}
			return err
		}},
		{"crowd_team", s.count(30, 5), func() error {
			_, err := control.Parties.Ask(ctx, n, control.PartiesRequest{Fleet: true, Closed: true, Team: "team 0"})
			return err
		}},
	}
	note := ""
	if s.options.Quick {
		note = fmt.Sprintf("of %d parties with %d members only", c.parties, c.parties*c.members)
	}
	took := map[string]time.Duration{}
	for _, q := range questions {
		var all []time.Duration
		for i := range q.many {
			s.progress("asking", i, q.many)
			began := time.Now()
			if err := q.ask(); err != nil {
				return nil, err
			}
			all = append(all, time.Since(began))
		}
		took[q.figure] = percentile(all, 50)
	}
	taken := readings{}
	for name, t := range took {
		if name != "" {
			taken[name] = reading{value: milliseconds(t), yardstick: milliseconds(took[""]), note: note}
		}
	}
	return taken, nil
}

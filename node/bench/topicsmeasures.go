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

// Topics is what "parley bench topics" measures: how soon one sees what is worked on together after
// that has gone on for a year.
func Topics() Suite {
	return Suite{Name: "topics", Measures: []Measure{yearMeasure()}}
}

func yearMeasure() Measure {
	const (
		of   = "of 500 topics with 50 partners, in a record of 200,000 messages"
		read = `"git archive", which reads every message once`
	)
	figure := func(name, what string, aim float64) Spec {
		return Spec{Name: name, Unit: "ms", What: what + ", " + of, Better: Lower, Beside: read, Aim: aim, AimOn: OnValue, Full: true}
	}
	return Measure{
		Name: "year", What: "what an agent works on with others is asked for after a year", take: takeYear,
		Figures: []Spec{
			figure("year_first", "the first list after a start, asked as soon as the node answers", 500),
			figure("year_rested", "the same, asked a second after the start or later, when the node rests", 500),
			figure("year_list", "an agent's list (work-with --list): median", 100),
			figure("year_relation", "the view of one relationship (work-with PARTNER): median", 100),
			figure("year_fleet", "who works with whom (work-with --fleet-status): median", 100),
			{Name: "year_before", Unit: "MiB", What: "anonymous memory of the node at rest, before it was asked, " + of, Better: Lower, Beside: "the messages' own bytes"},
			{Name: "year_after", Unit: "MiB", What: "the same after all those questions: topics stay folded", Better: Lower, Beside: "the messages' own bytes"},
		},
	}
}

// takeYear starts a node as a process of its own on a year's record, and asks it.
func takeYear(ctx context.Context, s *stand) (_ readings, err error) {
	if len(s.options.Command) == 0 {
		return nil, skipped("this program cannot start parley")
	}
	y := newYear(s.count(500, 20), s.count(50, 5), s.count(200_000, quickScale))
	note := ""
	if s.options.Quick {
		note = fmt.Sprintf("of %d topics with %d partners, in %d messages only", y.topics, y.partners, len(y.written))
	}
	home, err := newHome(ctx, s.path("home"), func(o *homes.Options) { o.Now = func() time.Time { return y.began } })
	if err != nil {
		return nil, err
	}
	size, err := s.fillWith(ctx, home, len(y.written), y.write)
	if err != nil {
		return nil, err
	}
	archiving, err := s.archive(ctx, home)
	if err != nil {
		return nil, err
	}
	if err := s.serveYear(ctx, home, y); err != nil {
		return nil, err
	}
	before, err := s.askYear(ctx, home, true)
	if err != nil {
		return nil, err
	}
	taken := readings{}
	for name, took := range before.took {
		taken[name] = reading{value: milliseconds(percentile(took, 50)), yardstick: milliseconds(archiving), note: note}
	}
	rested, err := s.askYear(ctx, home, false)
	if err != nil {
		return nil, err
	}
	taken["year_rested"] = reading{value: milliseconds(rested.took["year_first"][0]), yardstick: milliseconds(archiving), note: note}
	if rested.after > 0 {
		taken["year_before"] = reading{value: float64(rested.before) / mebibyte, yardstick: float64(size) / mebibyte, note: note}
		taken["year_after"] = reading{value: float64(rested.after) / mebibyte, yardstick: float64(size) / mebibyte, note: note}
	}
	return taken, nil
}

// serveYear has the host serve the agents of the year, and completes its cache.
func (s *stand) serveYear(ctx context.Context, home configs.Home, y *year) (err error) {
	n, err := runNode(ctx, home, zerolog.Nop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	names := []string{asker}
	for i := range y.partners {
		names = append(names, partnerName(i))
	}
	for _, name := range names {
		if _, err := control.AddAgent.Ask(ctx, n, control.AddAgentRequest{Name: name, Inbox: true}); err != nil {
			return err
		}
	}
	return s.rest(ctx, n)
}

// asked is what came of asking a node about a year.
type asked struct {
	took          map[string][]time.Duration // by figure
	before, after int64                      // bytes of anonymous memory, before the first question and after the last one
}

// askYear starts a node as a process of its own, asks it, at once or when it rests, and ends it.
func (s *stand) askYear(ctx context.Context, home configs.Home, atOnce bool) (a asked, err error) {
	p, err := s.startProcess(ctx, home)
	if err != nil {
		return a, err
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
	if err == nil && !atOnce {
		err = s.rest(ctx, p.client)
	}
	if err != nil {
		return a, err
	}
	a.before = anonymousMemory(p.cmd.Process.Pid)
	a.took = map[string][]time.Duration{}
	viewing := control.Viewing{For: asker}
	list := func() error {
		list, err := control.Topics.Ask(ctx, p.client, control.TopicsRequest{Viewing: viewing})
		if err == nil && (len(list.Topics) == 0 || list.Topics[0].Raw == nil) {
			err = fmt.Errorf("the list has %d topics, and no score", len(list.Topics))
		}
		return err
	}
	questions := []struct {
		figure string
		many   int
		ask    func() error
	}{
		{"year_first", 1, list},
		{"year_list", s.count(30, 5), list},
		{"year_relation", s.count(30, 5), func() error {
			_, err := control.ShowRelation.Ask(ctx, p.client, control.RelationRequest{Viewing: viewing, With: partnerName(1)})
			return err
		}},
		{"year_fleet", s.count(30, 5), func() error {
			_, err := control.Topics.Ask(ctx, p.client, control.TopicsRequest{Fleet: true})
			return err
		}},
	}
	for _, q := range questions {
		for i := range q.many {
			s.progress("asking for "+q.figure, i, q.many)
			began := time.Now()
			if err := q.ask(); err != nil {
				return a, err
			}
			a.took[q.figure] = append(a.took[q.figure], time.Since(began))
		}
	}
	a.after = anonymousMemory(p.cmd.Process.Pid)
	return a, p.stop(ctx)
}

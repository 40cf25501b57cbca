package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// The measure of a large fleet has manyHosts, in a quick run fewHosts.
const (
	manyHosts = 50
	fewHosts  = 6
)

func fanoutMeasure() Measure {
	const whole = "50 whole nodes with their records in one process: "
	return Measure{
		Name: "fanout", What: "one host speaks to many, and is started anew", take: takeFanout,
		Figures: []Spec{
			{Name: "fanout_rate", Unit: "/s", What: whole + "messages to all, counted at each that receives one, a second until the last", Better: Higher,
				Beside: "as many bytes as often over bare NATS across as many links, kept by nobody"},
			{Name: "fanout_lost", Unit: "", What: whole + "of those, what did not come live", Better: Lower,
				Beside: "deliveries", Aim: 0, AimOn: OnValue},
			{Name: "back_all", Unit: "s", What: whole + "from the start of the hub anew until all are live there and heard it again", Better: Lower,
				Aim: 10, AimOn: OnValue, Full: true},
		},
	}
}

// manyNodes is the measure under way.
type manyNodes struct {
	*stand
	*hosts
	came []*arrivals // at each host
}

func takeFanout(ctx context.Context, s *stand) (_ readings, err error) {
	m := &manyNodes{stand: s}
	size := s.count(manyHosts, fewHosts)
	for range size {
		m.came = append(m.came, newArrivals())
	}
	m.hosts, err = s.startHosts(ctx, wantedHosts{size: size,
		log: func(i int) zerolog.Logger { return m.came[i].log() },
		// One machine has no room for so many git programs. The bus is what is measured, and git
		// stays out of it.
		noGit: true,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.hosts.stop()) }()
	many := s.count(1000, 200)
	taken, err := m.fanout(ctx, many)
	if err != nil {
		return nil, err
	}
	back, err := m.restart(ctx)
	if err != nil {
		return nil, err
	}
	if s.options.Quick {
		back.note = fmt.Sprintf("%d hosts", size)
	}
	taken["back_all"] = back
	return taken, nil
}

// fanout has the hub speak to all hosts at full speed.
func (m *manyNodes) fanout(ctx context.Context, many int) (readings, error) {
	began := time.Now()
	paths, err := m.sendMany(ctx, m.nodes[0], "all", many)
	if err != nil {
		return nil, err
	}
	if _, err := m.awaitArrivals(ctx, paths, m.came[1:]...); err != nil { // missing messages are counted
		return nil, err
	}
	end, deliveries := began, 0
	for _, came := range m.came[1:] {
		_, byBus, last := came.count(paths)
		deliveries += byBus
		if last.After(end) {
			end = last
		}
	}
	wanted := many * (len(m.nodes) - 1)
	bare, err := m.bareDeliveries(ctx, len(m.nodes)-1, many)
	if err != nil {
		return nil, err
	}
	note := ""
	if m.options.Quick {
		note = fmt.Sprintf("%d hosts, %d messages", len(m.nodes), many)
	}
	return readings{
		"fanout_rate": {value: perSecond(deliveries, end.Sub(began)), yardstick: bare, note: note},
		"fanout_lost": {value: float64(wanted - deliveries), yardstick: float64(wanted), note: note},
	}, nil
}

// restart ends the hub and starts it anew, at the same addresses.
func (m *manyNodes) restart(ctx context.Context) (reading, error) {
	m.progress("starting the hub anew", 0, 0)
	hub := m.nodes[0]
	status, err := control.ShowStatus.Ask(ctx, hub)
	if err != nil {
		return reading{}, err
	}
	if err := hub.stop(); err != nil {
		return reading{}, err
	}
	m.nodes = m.nodes[1:] // for stop, until it runs again
	err = reconfigure(hub.home, func(c *configs.Config) { c.Bus.Listen, c.Bus.Links = status.Bus.Clients, status.Bus.Links })
	if err != nil {
		return reading{}, err
	}
	began := time.Now()
	again, err := runNode(ctx, hub.home, zerolog.Nop())
	if err != nil {
		return reading{}, err
	}
	again.human = hub.human
	m.nodes = append([]*runningNode{again}, m.nodes...)
	err = until(ctx, "all hosts were live again", time.Millisecond, func() (bool, error) {
		status, err := control.ShowStatus.Ask(ctx, again)
		return !slices.ContainsFunc(status.Hosts, func(h control.HostStatus) bool { return !h.Live }), err
	})
	if err != nil {
		return reading{}, err
	}
	said, err := control.Send.Ask(ctx, again, control.SendRequest{As: again.human, To: []string{"all"}, Body: "here again"})
	if err != nil {
		return reading{}, err
	}
	heard, err := m.awaitArrivals(ctx, map[string]bool{said.Path.String(): true}, m.came[1:]...)
	if err == nil && !heard {
		err = fmt.Errorf("waited %s in vain until all hosts heard the hub again", patience)
	}
	if err != nil {
		return reading{}, err
	}
	return reading{value: time.Since(began).Seconds()}, nil
}

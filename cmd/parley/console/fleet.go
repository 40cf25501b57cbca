package console

import (
	"cmp"
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// fleet is the page of hosts, and of who is there with what they are at.
type fleet struct {
	control.Status
	Live    int
	Hosts   []fleetHost
	Worst   causes.Level
	Found   []causes.Found
	Seats   []seat
	Dead    int
	Alone   bool // no other host is known
	Nothing bool // no agent is served anywhere
}

type fleetHost struct {
	control.HostStatus
	How   string // it can be reached
	Links []standing.Line
	Who   []person
}

// person is somebody who can be reached, with what they are at in words.
type person struct {
	control.Participant
	At []saying
}

// saying is a word or two on somebody, with how it looks; "" for no more than words.
type saying struct{ Words, Tone string }

// seat is a session of an agent program, in words.
type seat struct {
	control.Session
	At, Hears string
}

func showFleet(a *asking) (any, string, error) {
	s, err := control.ShowStatus.Ask(a.Context(), a.c.node)
	if err != nil {
		return nil, "", err
	}
	people, err := ask(a, control.List, control.HostsRequest{})
	if err != nil {
		return nil, "", err
	}
	dead, err := ask(a, control.DeadLetters, control.DeadLettersRequest{})
	if err != nil {
		return nil, "", err
	}
	f := fleet{Status: s, Found: standing.Of(s), Dead: len(dead), Nothing: true}
	if f.Seats, err = a.seats(""); err != nil {
		return nil, "", err
	}
	f.Worst = causes.Worst(f.Found)
	slices.SortStableFunc(f.Found, func(x, y causes.Found) int { return cmp.Compare(urgency(x.Level), urgency(y.Level)) })
	for _, h := range s.Hosts {
		host := fleetHost{HostStatus: h, How: standing.Host(h.State)}
		for _, link := range s.Bus.Peers {
			if link.Host == h.Alias {
				host.Links = append(host.Links, standing.LinkLine(link))
			}
		}
		for _, one := range people {
			if one.Host == h.Alias {
				host.Who = append(host.Who, a.person(one))
			}
			f.Nothing = f.Nothing && one.Kind != "agent"
		}
		if h.Live {
			f.Live++
		}
		f.Hosts = append(f.Hosts, host)
	}
	f.Alone = len(f.Hosts) < 2
	return f, "Fleet", nil
}

// urgency is small for what is to be looked at first.
func urgency(l causes.Level) int {
	return slices.Index([]causes.Level{causes.Red, causes.Yellow, causes.Green}, l)
}

func (a *asking) person(one control.Participant) person {
	p := person{Participant: one}
	for _, words := range standing.Work(a.c.view(), one) {
		p.At = append(p.At, saying{Words: words})
	}
	if len(p.At) == 0 {
		return p
	}
	first, last := &p.At[0], &p.At[len(p.At)-1]
	first.Tone = string(one.Presence)
	if one.Waits != nil {
		first.Tone = "waiting"
	}
	switch level := standing.Hindrance(one.AgentWork); {
	case level == causes.Red:
		last.Tone = "failed"
	case level == causes.Yellow, one.Gates > 0:
		last.Tone = "pending"
	}
	return p
}

// seats are the sessions of this host, or those of one agent.
func (a *asking) seats(of protocol.Name) (all []seat, err error) {
	sessions, err := control.Sessions.Ask(a.Context(), a.c.node)
	for _, s := range sessions {
		if of == "" || s.Agent == of {
			all = append(all, seat{s, standing.Session(a.c.view(), s), standing.Hears(a.c.view(), s)})
		}
	}
	return all, err
}

package console

import (
	"cmp"
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/each"
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

func showFleet(a *asking) (any, string) {
	s := need(a, control.ShowStatus.Verb, control.None{})
	people := need(a, control.List, control.HostsRequest{})
	dead := need(a, control.DeadLetters, control.DeadLettersRequest{})
	f := fleet{Status: s, Found: standing.Of(s), Dead: len(dead), Seats: a.seats("")}
	f.Worst = causes.Worst(f.Found)
	slices.SortStableFunc(f.Found, func(x, y causes.Found) int { return cmp.Compare(urgency(x.Level), urgency(y.Level)) })
	for _, h := range s.Hosts {
		f.Hosts = append(f.Hosts, fleetHost{h, standing.Host(h.State), linksTo(h.Alias, s), a.peopleOf(h.Alias, people)})
	}
	f.Live = each.Count(s.Hosts, func(h control.HostStatus) bool { return h.Live })
	f.Nothing = !slices.ContainsFunc(people, func(one control.Participant) bool { return one.Kind == "agent" })
	f.Alone = len(f.Hosts) < 2
	return f, "Fleet"
}

// urgency is small for what is to be looked at first.
func urgency(l causes.Level) int {
	return slices.Index([]causes.Level{causes.Red, causes.Yellow, causes.Green}, l)
}

// linksTo are the links to a host.
func linksTo(host protocol.Name, s control.Status) []standing.Line {
	return each.Of(each.Only(s.Bus.Peers, func(l control.LinkStatus) bool { return l.Host == host }), standing.LinkLine)
}

// peopleOf are those who are served by a host.
func (a *asking) peopleOf(host protocol.Name, people []control.Participant) []person {
	return each.Of(each.Only(people, func(one control.Participant) bool { return one.Host == host }), a.person)
}

func (a *asking) person(one control.Participant) person {
	p := person{one, each.Of(standing.Work(a.c.view(), one), func(words string) saying { return saying{Words: words} })}
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
func (a *asking) seats(of protocol.Name) (all []seat) {
	for _, s := range need(a, control.Sessions.Verb, control.None{}) {
		if of == "" || s.Agent == of {
			all = append(all, seat{s, standing.Session(a.c.view(), s), standing.Hears(a.c.view(), s)})
		}
	}
	return all
}

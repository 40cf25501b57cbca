package console

import (
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

// host is the page of one host.
type host struct {
	control.Host
	How, Clock string
	Links      []standing.Line
	Who        []person
	Away       bool
}

func showHost(a *asking) (any, string, error) {
	one, err := ask(a, control.ShowHost, control.HostRequest{Alias: a.PathValue("alias")})
	if err != nil {
		return nil, "", err
	}
	h := host{Host: one, How: standing.Host(one.State), Clock: standing.ClockDifference(one.Clock.Duration(), "")}
	h.Away = one.State != control.HostHere && one.State != control.HostLive
	s, err := control.ShowStatus.Ask(a.Context(), a.c.node)
	if err != nil {
		return nil, "", err
	}
	for _, link := range s.Bus.Peers {
		if link.Host == one.Alias {
			h.Links = append(h.Links, standing.LinkLine(link))
		}
	}
	people, err := ask(a, control.List, control.HostsRequest{All: true})
	for _, who := range people {
		if who.Host == one.Alias {
			h.Who = append(h.Who, a.person(who))
		}
	}
	return h, one.Alias.String(), err
}

// ping asks a host one question.
func ping(a *asking) (done, error) {
	p, err := control.PingHost.Ask(a.Context(), a.c.node, control.PingRequest{Alias: a.FormValue("alias")})
	if err != nil {
		return done{}, err
	}
	said := p.Alias.String() + " answered in " + standing.RoundTrip(p.RTT.Duration()) + ", version " + visible.Line(p.Version)
	return done{Said: said + standing.ClockDifference(p.Clock.Duration(), "; ")}, nil
}

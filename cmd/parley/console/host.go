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

func showHost(a *asking) (any, string) {
	one := need(a, control.ShowHost, control.HostRequest{Alias: a.PathValue("alias")})
	return host{
		Host: one, How: standing.Host(one.State), Clock: standing.ClockDifference(one.Clock.Duration(), ""),
		Links: linksTo(one.Alias, need(a, control.ShowStatus.Verb, control.None{})),
		Who:   a.peopleOf(one.Alias, need(a, control.List, control.HostsRequest{All: true})),
		Away:  one.State != control.HostHere && one.State != control.HostLive,
	}, one.Alias.String()
}

// ping asks a host one question.
func ping(a *asking) (done, error) {
	p := need(a, control.PingHost, control.PingRequest{Alias: a.FormValue("alias")})
	said := p.Alias.String() + " answered in " + standing.RoundTrip(p.RTT.Duration()) + ", version " + visible.Line(p.Version)
	return done{Said: said + standing.ClockDifference(p.Clock.Duration(), "; ")}, a.err
}

package console

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

// someone is the page of an agent or a human.
type someone struct {
	Name     string // as it is written to
	Hosts    []person
	Agent    bool
	Here     bool
	Settings []control.Setting
	Profile  *control.Profile
	Key      *control.Human
	Seats    []seat
	Jobs     []job
	Dead     []failure
	Gates    []gate
	Said     []said
	Write    string // the page where they are written to; "" if the human here cannot
}

// saidLast is how many messages of somebody stand on their page.
const saidLast = 8

func showWho(a *asking) (any, string) {
	name, at, _ := strings.Cut(a.PathValue("name"), "@")
	s := someone{Name: name}
	if at != "" {
		s.Name += "@" + at
	}
	for _, one := range need(a, control.List, control.HostsRequest{All: true}) {
		if one.Name.String() == name && (at == "" || one.Host.String() == at) {
			s.Hosts = append(s.Hosts, a.person(one))
			s.Agent = s.Agent || one.Kind == "agent"
			s.Here = s.Here || one.Here
		}
	}
	if a.err == nil && len(s.Hosts) == 0 { // nothing more is asked then
		a.err = control.Errorf(control.KindNotFound, "parley who", "nobody in the fleet is called %s", visible.Line(s.Name))
	}
	if talk, err := ask(a, control.FindTalk, control.TalkRequest{To: s.Name}); err == nil {
		s.Write = "/talk?to=" + url.QueryEscape(s.Name)
		if talk.Begun {
			s.Write = "/talk/" + talk.Channel.String()
		}
	}
	s.served(a, name)
	s.human(a, name)
	s.talked(a, name)
	return s, s.Name
}

// served adds what this host knows of an agent that it serves, and what it was trusted with.
func (s *someone) served(a *asking, name string) {
	if !s.Agent {
		return
	}
	if profile, err := ask(a, control.ActorProfile, control.ProfileRequest{Name: name}); err == nil { // most have none
		s.Profile = &profile
	}
	s.Dead = a.failures(control.DeadLettersRequest{Agent: name})
	if !s.Here {
		return
	}
	served := need(a, control.ShowAgent, control.AgentRequest{Name: name})
	s.Settings, s.Seats = served.Settings, a.seats(served.Name)
	s.Jobs, _ = a.jobs(name)
}

// human adds the key of a human, and what waits for them.
func (s *someone) human(a *asking, name string) {
	i := slices.IndexFunc(s.Hosts, func(p person) bool { return p.Kind == "human" })
	if i < 0 {
		return
	}
	for _, h := range need(a, control.Humans, control.HumansRequest{}).Humans {
		if h.Name.String() == name && h.Host == s.Hosts[i].Host {
			s.Key = &h
		}
	}
	if s.Hosts[i].Here {
		s.Gates = each.Of(need(a, control.Gates, control.GatesRequest{}).Gates, shown)
	}
}

// talked adds what they said last.
func (s *someone) talked(a *asking, name string) {
	for _, hit := range need(a, control.Search, control.SearchRequest{From: name, Limit: saidLast}).Hits {
		if slices.ContainsFunc(s.Hosts, func(p person) bool { return hit.Host == "" || hit.Host == p.Host }) {
			s.Said = append(s.Said, a.c.inList(hit.Message))
		}
	}
}

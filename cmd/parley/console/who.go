package console

import (
	"net/url"
	"slices"
	"strings"

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
	Gates    []control.Gate
	Said     []said
	Write    string // the page where they are written to; "" if the human here cannot
}

// saidLast is how many messages of somebody stand on their page.
const saidLast = 8

func showWho(a *asking) (any, string, error) {
	name, at, _ := strings.Cut(a.PathValue("name"), "@")
	people, err := ask(a, control.List, control.HostsRequest{All: true})
	if err != nil {
		return nil, "", err
	}
	s := someone{Name: name}
	if at != "" {
		s.Name += "@" + at
	}
	for _, one := range people {
		if one.Name.String() == name && (at == "" || one.Host.String() == at) {
			s.Hosts = append(s.Hosts, a.person(one))
			s.Agent = s.Agent || one.Kind == "agent"
			s.Here = s.Here || one.Here
		}
	}
	if len(s.Hosts) == 0 {
		return nil, "", control.Errorf(control.KindNotFound, "parley who", "nobody in the fleet is called %s", visible.Line(s.Name))
	}
	if talk, err := ask(a, control.FindTalk, control.TalkRequest{To: s.Name}); err == nil {
		s.Write = "/talk?to=" + url.QueryEscape(s.Name)
		if talk.Begun {
			s.Write = "/talk/" + talk.Channel.String()
		}
	}
	for _, fill := range []func(*asking, string) error{s.served, s.human, s.talked} {
		if err := fill(a, name); err != nil {
			return nil, "", err
		}
	}
	return s, s.Name, nil
}

// served adds what this host knows of an agent that it serves, and what it was trusted with.
func (s *someone) served(a *asking, name string) (err error) {
	if !s.Agent {
		return nil
	}
	if profile, err := ask(a, control.ActorProfile, control.ProfileRequest{Name: name}); err == nil { // most have none
		s.Profile = &profile
	}
	if s.Dead, err = a.failures(control.DeadLettersRequest{Agent: name}); err != nil || !s.Here {
		return err
	}
	served, err := ask(a, control.ShowAgent, control.AgentRequest{Name: name})
	if err != nil {
		return err
	}
	s.Settings = served.Settings
	if s.Jobs, _, err = a.jobs(name); err != nil {
		return err
	}
	s.Seats, err = a.seats(served.Name)
	return err
}

// human adds the key of a human, and what waits for them.
func (s *someone) human(a *asking, name string) error {
	i := slices.IndexFunc(s.Hosts, func(p person) bool { return p.Kind == "human" })
	if i < 0 {
		return nil
	}
	all, err := ask(a, control.Humans, control.HumansRequest{})
	if err != nil {
		return err
	}
	for _, h := range all.Humans {
		if h.Name.String() == name && h.Host == s.Hosts[i].Host {
			s.Key = &h
		}
	}
	if !s.Hosts[i].Here {
		return nil
	}
	gates, err := ask(a, control.Gates, control.GatesRequest{})
	s.Gates = gates.Gates
	return err
}

func (s *someone) talked(a *asking, name string) error {
	found, err := ask(a, control.Search, control.SearchRequest{From: name, Limit: saidLast})
	for _, hit := range found.Hits {
		if slices.ContainsFunc(s.Hosts, func(p person) bool { return hit.Host == "" || hit.Host == p.Host }) {
			s.Said = append(s.Said, a.c.inList(hit.Message))
		}
	}
	return err
}

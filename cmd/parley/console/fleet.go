package console

import (
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// fleet is the page of hosts, and of who is there with what they are at.
type fleet struct {
	Fleet  protocol.Name
	Live   int
	Hosts  []fleetHost
	Warned []string
}

type fleetHost struct {
	control.HostStatus
	RTT    control.Seconds
	Links  []control.LinkStatus
	People []control.Participant
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
	f := fleet{Fleet: s.Fleet, Warned: s.Warned}
	for _, h := range s.Hosts {
		host := fleetHost{HostStatus: h}
		for _, link := range s.Bus.Peers {
			if link.Host == h.Alias {
				host.Links = append(host.Links, link)
				host.RTT = link.RTT
			}
		}
		for _, one := range people {
			if one.Host == h.Alias {
				host.People = append(host.People, one)
			}
		}
		if h.Live {
			f.Live++
		}
		f.Hosts = append(f.Hosts, host)
	}
	return f, "Fleet", nil
}

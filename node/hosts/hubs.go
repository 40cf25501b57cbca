package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/carry"
	"github.com/parleyfleet/parley/protocol"
)

// hubs is what this host knows about where hosts can be dialled, itself among them.
type hubs struct {
	*Options
	moved chan struct{} // holds a token if a host has said something of itself: then look at the links again
}

// List are the hosts that can be dialled: those that the operator names, then those of the record,
// the most senior first. Anybody who may push can add any number of hosts for which nobody vouches.
// These must not be dialled before the hosts that really exist. The bus asks before each round of
// dials.
func (hs *hubs) List() (all []bus.Hub) {
	joined := carry.ReadHint(hs.Home)
	hs.Folded(func(s *fleet.State) { all = hs.listIn(s, joined) })
	return all
}

func (hs *hubs) listIn(s *fleet.State, joined carry.Hint) []bus.Hub {
	var all []bus.Hub
	for _, named := range hs.Config.Bus.Hubs {
		alias, address, err := configs.ParseHub(named)
		if err != nil {
			continue // Load has refused it
		}
		hub := bus.Hub{Alias: alias, Addresses: []string{address}, Named: true}
		if h, joined := s.Keys().Host(alias); joined {
			hub.Keys = keysNow(s, h, hs.Now())
		}
		all = append(all, hub)
	}
	for _, h := range s.Keys().BySeniority() {
		if addresses := reachable(h, joined); h.Alias != hs.Config.Alias && len(addresses) > 0 {
			all = append(all, bus.Hub{Alias: h.Alias, Keys: keysNow(s, h, hs.Now()), Addresses: addresses})
		}
	}
	return all
}

// keysNow are the keys of a host that count now.
func keysNow(s *fleet.State, h *keys.Host, now time.Time) []string {
	var keys []string
	for _, k := range h.Keys() {
		if s.Keys().HasKey(h.Alias, k.Key, now) {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// reachable are the addresses of a host that can lead to it from here. An address on the loopback
// is only dialled if that host says that it is on this machine, or if this one has joined by such an
// address of it: a machine may have several names. If it has no name, no other host is on it.
func reachable(h *keys.Host, joined carry.Hint) []string {
	return slices.DeleteFunc(slices.Clone(h.Addresses), func(address string) bool {
		local, err := isLocal(address)
		return err != nil || local && !isHere(h, joined)
	})
}

func isHere(h *keys.Host, joined carry.Hint) bool {
	here := whereabouts.Hostname()
	return here != "" && h.Hostname == here || joined.Alias == h.Alias && slices.ContainsFunc(joined.Addresses, func(address string) bool {
		local, err := isLocal(address)
		return local && err == nil
	})
}

func isLocal(address string) (bool, error) {
	host, _, err := protocol.SplitHostPort(address)
	return protocol.IsLoopback(host), err
}

// Addresses are where other hosts reach this one: what the bus has bound. Before that, it is what
// the configuration says or, if the system chooses the port, what the record last said.
func (hs *hubs) Addresses() []string {
	if b := hs.Bus(); b != nil {
		return b.Addresses().Advertised
	}
	links := hs.Config.Bus.LinksAddress()
	switch {
	case links == "" || len(hs.Config.Bus.Advertise) > 0:
		return hs.Config.Bus.Advertise
	case !anyPort(links):
		return bus.Advertised(nil, links)
	}
	var said []string
	hs.Folded(func(s *fleet.State) {
		if h, joined := s.Keys().Host(hs.Config.Alias); joined {
			said = h.Addresses
		}
	})
	return said
}

// anyPort reports whether the system chooses the port of an address.
func anyPort(address string) bool {
	_, port, err := protocol.SplitHostPort(address)
	return err != nil || port == 0
}

// Watch has the bus look at its links again whenever a host has said something of itself, or an old
// key's time is over (see keyWork), until `ctx` ends.
func (hs *hubs) Watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hs.moved:
		}
		if b := hs.Bus(); b != nil {
			b.Recheck()
		}
	}
}

// Of is a host with all its addresses: those that the operator names, and those that it states
// itself.
func (hs *hubs) Of(alias protocol.Name) bus.Hub {
	hub := bus.Hub{Alias: alias}
	for _, named := range hs.Config.Bus.Hubs {
		if of, address, err := configs.ParseHub(named); err == nil && of == alias {
			hub.Addresses = append(hub.Addresses, address)
		}
	}
	hs.Folded(func(s *fleet.State) {
		h, joined := s.Keys().Host(alias)
		if !joined {
			return
		}
		hub.Keys = keysNow(s, h, hs.Now())
		for _, address := range h.Addresses {
			if !slices.Contains(hub.Addresses, address) {
				hub.Addresses = append(hub.Addresses, address)
			}
		}
	})
	return hub
}

// Unknown warns about hosts that the operator names as hubs and that have not joined. They may do
// so later, so it is no error.
func (hs *hubs) Unknown() (warnings []string) {
	for _, hub := range hs.Config.Bus.Hubs {
		alias, _, err := configs.ParseHub(hub)
		if err != nil || alias == "" {
			continue // Load has refused it, or it means whichever host answers there
		}
		hs.Folded(func(s *fleet.State) { _, err = s.People.FindHost(alias.String()) })
		var unknown *fleet.Refusal
		if errors.As(err, &unknown) {
			warnings = append(warnings, fmt.Sprintf("nothing is known of a host called %s, which bus.hubs names (%s): it has not joined yet, or has another name; %s",
				alias, hub, unknown.Hint))
		}
	}
	return warnings
}

// SayUnknown logs these warnings.
func (hs *hubs) SayUnknown() {
	for _, warning := range hs.Unknown() {
		hs.Log.Warn().Msg(warning)
	}
}

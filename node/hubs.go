package node

import (
	"context"
	"os"
	"slices"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// hubs are the hosts that can be dialled: those that the operator names, then those
// of the record, the most senior first: who may push can add any number of hosts that
// nobody answers for, and they must not be dialled before those that are there. The bus
// asks before each round of dials.
func (n *Node) hubs() []bus.Hub {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []bus.Hub
	for _, named := range n.cfg.Bus.Hubs {
		alias, address, err := configs.ParseHub(named)
		if err != nil {
			continue // Load has refused it
		}
		hub := bus.Hub{Alias: alias, Addresses: []string{address}, Named: true}
		if h, joined := n.state.Host(alias); joined {
			hub.Keys = n.keysNow(h)
		}
		all = append(all, hub)
	}
	for _, h := range n.state.BySeniority() {
		if addresses := n.reachable(h); h.Alias != n.cfg.Alias && len(addresses) > 0 {
			all = append(all, bus.Hub{Alias: h.Alias, Keys: n.keysNow(h), Addresses: addresses})
		}
	}
	return all
}

// keysNow are the keys of a host that count now. The caller holds mu.
func (n *Node) keysNow(h *fleet.Host) []string {
	var keys []string
	for _, k := range h.Keys() {
		if n.state.HasKey(h.Alias, k.Key, n.now()) {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// reachable are the addresses of a host that can lead to it from here: one on the
// loopback is dialled only where that host says that it is on this machine. The
// caller holds mu.
func (n *Node) reachable(h *fleet.Host) []string {
	here := hostname()
	return slices.DeleteFunc(slices.Clone(h.Addresses), func(address string) bool {
		host, _, err := protocol.SplitHostPort(address)
		return err != nil || protocol.IsLoopback(host) && (here == "" || h.Hostname != here)
	})
}

// hostname is what this machine calls itself, "" where it has no name: then no other
// host is on this machine.
func hostname() string {
	name, _ := os.Hostname() // only what it says when it says something matters
	return name
}

// addresses are where other hosts reach this one: what the bus has bound; before it
// has, what the configuration says, or what the record said last where the system
// chooses.
func (n *Node) addresses() []string {
	if b := n.currentBus(); b != nil {
		return b.Addresses().Advertised
	}
	links := n.cfg.Bus.LinksAddress()
	switch {
	case links == "" || len(n.cfg.Bus.Advertise) > 0:
		return n.cfg.Bus.Advertise
	case !anyPort(links):
		return bus.Advertised(nil, links)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, joined := n.state.Host(n.cfg.Alias); joined {
		return h.Addresses
	}
	return nil
}

// anyPort reports whether an address leaves the port to the system.
func anyPort(address string) bool {
	_, port, err := protocol.SplitHostPort(address)
	return err != nil || port == 0
}

// watchHosts has the bus look again at its links whenever a host has said something
// of itself, or an old key's time is over (see tendKeys), until ctx ends.
func (n *Node) watchHosts(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.rehost:
		}
		if b := n.currentBus(); b != nil {
			b.Recheck()
		}
	}
}

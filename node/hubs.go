package node

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// hubs are the hosts that can be dialled: those that the operator names, then those
// of the record, by alias. The bus asks before each round of dials.
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
	for _, h := range n.state.Hosts() {
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
		return err != nil || isLoopback(host) && (here == "" || h.Hostname != here)
	})
}

// hostname is what this machine calls itself, "" where it has no name: then no other
// host is on this machine.
func hostname() string {
	name, _ := os.Hostname() // only what it says when it says something matters
	return name
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
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
	case protocol.CheckHostPort(links) == nil:
		return []string{links}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, joined := n.state.Host(n.cfg.Alias); joined {
		return h.Addresses
	}
	return nil
}

// recheckEvery is how often the bus looks again at its links when no host has said
// anything: an old key ends its overlap without a word.
const recheckEvery = time.Minute

// watchHosts has the bus look again at its links whenever a host has said something
// of itself, until ctx ends.
func (n *Node) watchHosts(ctx context.Context) {
	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-n.rehost:
		}
		if b := n.currentBus(); b != nil {
			b.Recheck()
		}
	}
}

package node

import (
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/protocol"
)

// neighbours are the links to other hosts that are up, by alias.
func (n *Node) neighbours() map[protocol.Name]bus.Link {
	b := n.currentBus()
	if b == nil || n.cfg.Bus.URL != "" {
		return nil // an existing system lies between all hosts
	}
	near := map[protocol.Name]bus.Link{}
	for _, l := range b.Links() {
		if l.Host != "" && l.Up {
			near[l.Host] = l
		}
	}
	return near
}

// measure notes a round trip to a host.
func (l *live) measure(host protocol.Name, rtt time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.measured[host] = rtt
}

// roundTrip is the last round trip to a host that was measured since it came, 0
// for none.
func (l *live) roundTrip(host protocol.Name) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.measured[host]
}

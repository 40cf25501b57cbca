package node

import (
	"regexp"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/protocol"
)

// neighbours are the hosts that a link leads to, by alias.
func (n *Node) neighbours() map[protocol.Name]bus.Link {
	b := n.currentBus()
	if b == nil || n.cfg.Bus.URL != "" {
		return nil // an existing system lies between all hosts
	}
	near := map[protocol.Name]bus.Link{}
	for _, l := range b.Links() {
		if host := hostOfLink(l); host != "" {
			near[host] = l
		}
	}
	return near
}

// hostOfLink is the host whose server calls itself as serverID makes it, "" for
// another name.
func hostOfLink(l bus.Link) protocol.Name {
	m := regexp.MustCompile(`^(.+)-[0-9a-f]{16}-[0-9a-f]{8}$`).FindStringSubmatch(l.Peer)
	if m == nil {
		return ""
	}
	name, err := protocol.ParseName(m[1])
	if err != nil {
		return ""
	}
	return name
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

package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Hosts implements control.Service.
func (n *Node) Hosts(context.Context) ([]control.Host, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := []control.Host{}
	for _, h := range n.state.Hosts() {
		all = append(all, n.hostView(h))
	}
	return all, nil
}

// hostView is a host as it is shown. The caller holds mu.
func (n *Node) hostView(h *fleet.Host) control.Host {
	v := control.Host{Alias: h.Alias, State: control.HostAway, Key: h.Key, Hostname: h.Hostname, Addresses: h.Addresses, Humans: h.Humans}
	v.Fingerprint, _ = protocol.Fingerprint(h.Key) // a key that is none was never believed
	for _, a := range h.Agents {
		v.Agents = append(v.Agents, a.Name)
	}
	if last, ok := n.state.LastOf(h.Alias); ok {
		v.LastMessage = &control.LastMessage{Path: last.Path, Timestamp: last.Timestamp, Run: last.Run, Seq: last.Seq}
		v.LastSeen = last.Timestamp
	}
	switch p, live := n.live.presenceOf(h.Alias); {
	case h.Alias == n.cfg.Alias:
		v.State, v.Since, v.LastSeen, v.Version = control.HostHere, n.started, n.now(), n.version
	case live:
		v.State, v.Since, v.LastSeen, v.Version = control.HostLive, p.Since, p.Seen, p.Version
	case p.Seen.After(v.LastSeen):
		v.LastSeen, v.Version = p.Seen, p.Version
	default:
		v.Version = p.Version
	}
	return v
}

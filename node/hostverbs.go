package node

import (
	"cmp"
	"context"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// gitLasts is how long a host that is not on the bus, and whose message came by
// git, counts as one that can be reached by git alone.
const gitLasts = 15 * time.Minute

// Hosts answers control.Hosts.
func (n *Node) Hosts(_ context.Context, r control.HostsRequest) ([]control.Host, error) {
	return n.hostViews(r.All), nil
}

// hostViews are the hosts of the fleet as they are shown: all, or those that are not
// out.
func (n *Node) hostViews(all bool) []control.Host {
	near := n.neighbours()
	n.mu.Lock()
	defer n.mu.Unlock()
	views := []control.Host{}
	for _, h := range n.state.Keys().AllHosts() {
		if all || !h.Out() {
			views = append(views, n.hostView(h, near))
		}
	}
	return views
}

// Host answers control.ShowHost.
func (n *Node) Host(_ context.Context, r control.HostRequest) (control.Host, error) {
	near := n.neighbours()
	n.mu.Lock()
	defer n.mu.Unlock()
	h, err := n.state.People.FindHost(r.Alias)
	if err != nil {
		return control.Host{}, asError(err)
	}
	return n.hostView(h, near), nil
}

// hostView is a host as it is shown, with what is known of links to it. The
// caller holds mu.
func (n *Node) hostView(h *keys.Host, near map[protocol.Name]bus.Link) control.Host {
	v := control.Host{Alias: h.Alias, Key: h.Key, Hostname: h.Hostname, Addresses: h.Addresses, Humans: h.Humans}
	v.Fingerprint, v.Keys = fingerprint(h.Key), keysView(h)
	for _, a := range h.Agents {
		v.Agents = append(v.Agents, a.Name)
	}
	if len(h.Addresses) > 0 {
		v.Address = h.Addresses[0]
	}
	if last, ok := n.state.Chains.LastOf(h.Alias); ok {
		v.LastMessage = &control.LastMessage{Path: last.Path, Timestamp: last.Timestamp, Run: last.Run, Seq: last.Seq}
	}
	if h.Alias == n.cfg.Alias {
		v.State, v.Since, v.LastSeen, v.Version = control.HostHere, n.started, n.now(), n.version
		return v
	}
	n.presenceView(&v)
	if h.Out() {
		v.State, v.Since = control.HostRevoked, time.Time{}
		if h.Removed() {
			v.State = control.HostRemoved
		}
	}
	if v.State == control.HostLive {
		v.RTT = control.Seconds(n.live.RoundTrip(h.Alias))
	}
	if link, ok := near[h.Alias]; ok {
		v.RTT = cmp.Or(control.Seconds(link.RTT), v.RTT)
		if link.Out || v.Address == "" { // of one that dials this host, the port means nothing
			v.Address = link.Address
		}
	}
	return v
}

// presenceView says whether another host is there, by what was heard of it last on
// the bus and by its last message.
func (n *Node) presenceView(v *control.Host) {
	p, live := n.live.PresenceOf(v.Alias)
	v.Version, v.LastSeen = p.Version, p.Seen
	if live {
		v.State, v.Since, v.Clock = control.HostLive, p.Since, control.Seconds(p.Sent.Sub(p.Seen))
		return
	}
	v.State = control.HostAway
	if v.LastMessage == nil {
		return
	}
	wrote := v.LastMessage.Timestamp
	if !p.Seen.IsZero() {
		wrote = wrote.Add(p.Seen.Sub(p.Sent)) // by this host's clock
	}
	// What it wrote before it left, or before this node started, came late.
	silent := n.started
	if p.Seen.After(silent) {
		silent = p.Seen
	}
	if wrote.After(silent.Add(presence.Lasts)) && n.now().Sub(wrote) < gitLasts {
		v.State = control.HostGit
	}
	if wrote.After(v.LastSeen) {
		v.LastSeen = wrote
	}
}

// keysView is the history of a host's keys.
func keysView(h *keys.Host) []control.HostKey {
	var all []control.HostKey
	for _, k := range h.Keys() {
		all = append(all, control.HostKey{
			Key: k.Key, Fingerprint: fingerprint(k.Key), Since: k.Since, Until: k.Until, Revoked: k.Revoked, RevokedBy: k.By, Removed: k.Removed})
	}
	return all
}

// fingerprint is that of a key of the record, where nothing else than a key is
// believed to be one.
func fingerprint(key string) string {
	print, _ := protocol.Fingerprint(key)
	return print
}

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

package node

import (
	"context"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// ProbeHost answers control.ProbeHost.
func (n *Node) ProbeHost(ctx context.Context, r control.HostRequest) (control.Probe, error) {
	host, err := n.directory.Host(ctx, r)
	if err != nil {
		return control.Probe{}, err
	}
	b := n.currentBus()
	if b == nil {
		return control.Probe{}, asError(ErrDraining)
	}
	hub := n.hubs.of(host.Alias)
	if len(hub.Addresses) == 0 && n.natsBus.Load() != nil {
		return control.Probe{}, control.Errorf(control.KindRefused, "how this host fares there: parley status; whether the other answers: parley host ping "+host.Alias.String(),
			"cannot probe %s: hosts meet at an existing NATS system here, and do not dial each other", host.Alias)
	}
	if len(hub.Addresses) == 0 {
		return control.Probe{}, control.Errorf(control.KindRefused,
			"it dials the others by itself; if it is to be dialled, give it a port: bus.listen in its config.yaml",
			"cannot probe %s: it takes no links, so there is no address to dial", host.Alias)
	}
	probe := control.Probe{Alias: host.Alias}
	for _, p := range b.Probe(ctx, hub) {
		probe.Addresses = append(probe.Addresses, n.probeView(host.Alias, p))
	}
	return probe, nil
}

func (n *Node) probeView(alias protocol.Name, p bus.Probed) control.ProbedAddress {
	v := control.ProbedAddress{
		Address: p.Address, Works: p.Works(), Cause: string(p.Cause), Reason: p.Reason, RTT: control.Seconds(p.Took), Clock: control.Seconds(p.Clock), Version: p.Version,
	}
	if alias == n.cfg.Alias && p.Cause == bus.CauseSelf {
		v.Works, v.Cause, v.Reason, v.Version = true, "", "", n.version // its own key answered
	}
	n.mu.Lock()
	h, _ := n.state.Keys().Host(alias)
	n.mu.Unlock()
	host, _, err := protocol.SplitHostPort(p.Address)
	if !v.Works && err == nil && protocol.IsLoopback(host) && h.Joined() && h.Hostname != whereabouts.Hostname() {
		v.Reason = "it is an address of that machine alone; " + v.Reason
	}
	return v
}

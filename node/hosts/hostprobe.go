package hosts

import (
	"context"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// ProbeHost answers control.ProbeHost.
func (q *questioner) ProbeHost(ctx context.Context, r control.HostRequest) (control.Probe, error) {
	host, err := q.directory.Host(ctx, r)
	if err != nil {
		return control.Probe{}, err
	}
	b := q.Bus()
	if b == nil {
		return control.Probe{}, writing.AsError(writing.ErrDraining)
	}
	hub := q.hubs.of(host.Alias)
	if len(hub.Addresses) == 0 && q.NatsBus.Load() != nil {
		return control.Probe{}, control.Errorf(control.KindRefused, "how this host fares there: parley status; whether the other answers: parley fleet ping "+host.Alias.String(),
			"cannot probe %s: hosts meet at an existing NATS system here, and do not dial each other", host.Alias)
	}
	if len(hub.Addresses) == 0 {
		return control.Probe{}, control.Errorf(control.KindRefused,
			"it dials the others by itself; if it is to be dialled, give it a port: bus.listen in its config.yaml",
			"cannot probe %s: it takes no links, so there is no address to dial", host.Alias)
	}
	probe := control.Probe{Alias: host.Alias}
	for _, p := range b.Probe(ctx, hub) {
		probe.Addresses = append(probe.Addresses, q.probeView(host.Alias, p))
	}
	return probe, nil
}

func (q *questioner) probeView(alias protocol.Name, p bus.Probed) control.ProbedAddress {
	v := control.ProbedAddress{
		Address: p.Address, Works: p.Works(), Cause: string(p.Cause), Reason: p.Reason, RTT: control.Seconds(p.Took), Clock: control.Seconds(p.Clock), Version: p.Version,
	}
	if alias == q.Config.Alias && p.Cause == bus.CauseSelf {
		v.Works, v.Cause, v.Reason, v.Version = true, "", "", q.Version // its own key has answered
	}
	var h *keys.Host
	q.Folded(func(s *fleet.State) { h, _ = s.Keys().Host(alias) })
	host, _, err := protocol.SplitHostPort(p.Address)
	if !v.Works && err == nil && protocol.IsLoopback(host) && h.Joined() && h.Hostname != whereabouts.Hostname() {
		v.Reason = "it is an address of that machine alone; " + v.Reason
	}
	return v
}

package hosts

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// gitLasts is how long a host that is not on the bus, and whose message came by git, counts as
// reachable by git alone.
const gitLasts = 15 * time.Minute

// Directory shows who is in the fleet: its hosts, and who can be written to.
type Directory struct {
	*Options
}

// Hosts answers control.Hosts.
func (d *Directory) Hosts(_ context.Context, r control.HostsRequest) ([]control.Host, error) {
	return d.Known(r.All), nil
}

// Known are the hosts of the fleet in the form in which they are shown: all, or those that are not
// out.
func (d *Directory) Known(all bool) []control.Host {
	near := d.neighbours()
	views := []control.Host{}
	d.Folded(func(s *fleet.State) {
		for _, h := range s.Keys().AllHosts() {
			if all || !h.Out() {
				views = append(views, d.view(s, h, near))
			}
		}
	})
	return views
}

// Host answers control.ShowHost.
func (d *Directory) Host(_ context.Context, r control.HostRequest) (v control.Host, err error) {
	near := d.neighbours()
	d.Folded(func(s *fleet.State) {
		var h *keys.Host
		if h, err = s.People.FindHost(r.Alias); err == nil {
			v = d.view(s, h, near)
		}
	})
	return v, err
}

// view is a host in the form in which it is shown, with what is known about links to it.
func (d *Directory) view(s *fleet.State, h *keys.Host, near map[protocol.Name]bus.Link) control.Host {
	v := control.Host{Alias: h.Alias, Key: h.Key, Hostname: h.Hostname, Addresses: h.Addresses, Humans: h.Humans}
	v.Fingerprint, v.Keys = fingerprint(h.Key), keysView(h)
	for _, a := range h.Agents {
		v.Agents = append(v.Agents, a.Name)
	}
	unsaid := d.Roster.Unsaid() // sessions of agent programs, of which the record does not tell
	if p, live := d.Live.PresenceOf(h.Alias); h.Alias != d.Config.Alias {
		unsaid = nil
		for _, name := range p.Sessions {
			if name, err := protocol.ParseName(name); live && err == nil {
				unsaid = append(unsaid, name)
			}
		}
	}
	for _, name := range unsaid {
		if !slices.Contains(v.Agents, name) {
			v.Agents = append(v.Agents, name)
		}
	}
	if len(h.Addresses) > 0 {
		v.Address = h.Addresses[0]
	}
	if last, ok := s.Chains.LastOf(h.Alias); ok {
		v.LastMessage = &control.LastMessage{Path: last.Path, Timestamp: last.Timestamp, Run: last.Run, Seq: last.Seq}
	}
	if h.Alias == d.Config.Alias {
		v.State, v.Since, v.LastSeen, v.Version = control.HostHere, d.Started, d.Now(), d.Version
		return v
	}
	d.presenceView(&v)
	if h.Out() {
		v.State, v.Since = control.HostRevoked, time.Time{}
		if h.Removed() {
			v.State = control.HostRemoved
		}
	}
	if v.State == control.HostLive {
		v.RTT = control.Seconds(d.Live.RoundTrip(h.Alias))
	}
	if link, ok := near[h.Alias]; ok {
		v.RTT = cmp.Or(control.Seconds(link.RTT), v.RTT)
		if link.Out || v.Address == "" { // if the other host dials this one, the port means nothing
			v.Address = link.Address
		}
	}
	return v
}

// presenceView says whether another host is there, by what was last heard of it on the bus and by
// its last message.
func (d *Directory) presenceView(v *control.Host) {
	p, live := d.Live.PresenceOf(v.Alias)
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
	// What it wrote before it left, or before this node started, has come late.
	silent := d.Started
	if p.Seen.After(silent) {
		silent = p.Seen
	}
	if wrote.After(silent.Add(presence.Lasts)) && d.Now().Sub(wrote) < gitLasts {
		v.State = control.HostGit
	}
	if wrote.After(v.LastSeen) {
		v.LastSeen = wrote
	}
}

func keysView(h *keys.Host) []control.HostKey {
	return each.Of(h.Keys(), func(k keys.HeldKey) control.HostKey {
		return control.HostKey{
			Key: k.Key, Fingerprint: fingerprint(k.Key), Since: k.Since, Until: k.Until, Revoked: k.Revoked, RevokedBy: k.By, Removed: k.Removed}
	})
}

// fingerprint is the fingerprint of a key of the record, where only texts that are keys are
// accepted.
func fingerprint(key string) string {
	print, _ := protocol.Fingerprint(key)
	return print
}

func (d *Directory) neighbours() map[protocol.Name]bus.Link {
	b := d.Bus()
	if b == nil || d.Config.Bus.URL != "" {
		return nil
	}
	near := map[protocol.Name]bus.Link{}
	for _, l := range b.Links() {
		if l.Host != "" && l.Up {
			near[l.Host] = l
		}
	}
	return near
}

// List answers control.List.
func (d *Directory) List(_ context.Context, r control.HostsRequest) ([]control.Participant, error) {
	all := []control.Participant{}
	served := map[protocol.Name]control.Agent{}
	for _, a := range d.Served() {
		served[a.Name] = a
	}
	var gates map[string]int
	d.Folded(func(s *fleet.State) { gates = d.Waiting(s) })
	for _, h := range d.Known(r.All) {
		since := h.Since
		if !isLive(h) {
			since = h.LastSeen
		}
		add := func(name protocol.Name, kind string) {
			p := control.Participant{
				Name: name, Kind: kind, Host: h.Alias, Live: isLive(h), Here: h.State == control.HostHere,
				State: h.State, Since: since, Address: h.Address, RTT: h.RTT,
			}
			if p.Here && kind == "agent" {
				a := served[name]
				p.Presence, p.AgentWork = a.Presence, a.AgentWork
				if !a.Since.IsZero() {
					p.Since = a.Since
				}
			}
			if kind == "human" {
				p.Gates = gates[name.String()+"@"+h.Alias.String()]
			}
			if !p.Here && kind == "agent" {
				p.Presence = d.PresenceOf(h.Alias, name)
			}
			if kind == "agent" {
				p.Waits = d.Live.WaitsOf(h.Alias, name.String())
			}
			if p.Here {
				d.Roster.Describe(&p)
			}
			all = append(all, p)
		}
		for _, a := range h.Agents {
			add(a, "agent")
		}
		for _, human := range h.Humans {
			add(human, "human")
		}
	}
	d.Folded(func(s *fleet.State) {
		for _, f := range s.People.OtherPrograms() {
			for _, a := range f.Agents {
				all = append(all, control.Participant{Name: a.Name, Kind: "agent", Host: f.Host, State: control.HostOther})
			}
			for _, human := range f.Humans {
				all = append(all, control.Participant{Name: human, Kind: "human", Host: f.Host, State: control.HostOther})
			}
		}
	})
	return all, nil
}

// PresenceOf is what an agent of another host is doing, as far as that host says it.
func (d *Directory) PresenceOf(host, agent protocol.Name) control.AgentState {
	p, live := d.Live.PresenceOf(host)
	if !live {
		return ""
	}
	at := control.AgentState(p.At[agent.String()])
	if !slices.Contains(control.AgentStates(), at) {
		return "" // not known, or a word of a later version
	}
	return at
}

// Status is the hosts of the fleet in the form of a node's status, without those that are out.
func (d *Directory) Status() []control.HostStatus {
	return each.Of(d.Known(false), func(h control.Host) control.HostStatus {
		return control.HostStatus{
			Alias: h.Alias, State: h.State, Here: h.State == control.HostHere, Live: isLive(h), Since: h.Since,
			LastSeen: h.LastSeen, Version: h.Version, Agents: each.Of(h.Agents, protocol.Name.String),
		}
	})
}

func isLive(h control.Host) bool { return h.State == control.HostHere || h.State == control.HostLive }

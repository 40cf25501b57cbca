package node

import (
	"context"
	"crypto/tls"
	"net/url"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/invite"
	"github.com/parleyfleet/parley/protocol"
)

// How many machines may be in the handshake of an invitation line at once, and from one address. Most
// of them wait for somebody to say yes: strangers have to make room for each other before that.
const (
	maxNewcomers     = 1024
	maxFromOneOrigin = 32
)

// inviter has a node invite hosts.
type inviter struct{ *Node }

// open makes the book of invitation lines.
func (n inviter) open() (*invite.Book, error) {
	return invite.Open(invite.Options{
		File: n.home.Invitations(), Now: n.now, Notices: n.notices, Line: n.line, Names: n.names,
		Host: func(key string) (alias protocol.Name) {
			n.folded(func(s *fleet.State) {
				var known bool
				if alias, known = s.Keys().HostOfKey(key, n.now()); !known {
					alias, _ = s.Keys().RevokedHost(key)
				}
			})
			return alias
		},
		Grant: func() invite.Granted {
			granted := invite.Granted{Fleet: n.cfg.Fleet}
			if !n.carrying.isCarrier.Load() {
				granted.Remote = openRemote(n.cfg.Remote)
			}
			return granted
		},
	})
}

// stream lets machines knock at the links port that were given an invitation line.
func (n inviter) stream() bus.Stream {
	return bus.Stream{
		Name: invite.Service, Most: maxNewcomers, Each: maxFromOneOrigin, Admit: n.invites.Admit,
		Serve: func(ctx context.Context, conn *tls.Conn, key string) {
			if err := n.invites.Serve(ctx, conn, key, n.signsWith.Load().Public); err != nil {
				n.log.Info().Err(err).Stringer("address", conn.RemoteAddr()).Msg("a machine with an invitation line was not let in")
			}
		},
	}
}

// line says where and as whom this host is reached, for a new line. It has the host take links
// if it takes none yet, and gives a fleet without a remote one that its hosts reach by their links.
func (n inviter) line(ctx context.Context, r control.InvitationRequest) (line protocol.InviteLine, err error) {
	refused := func(hint, why string) (protocol.InviteLine, error) {
		return line, control.Errorf(control.KindRefused, hint, "cannot invite a host: %s", why)
	}
	b := n.currentBus()
	if b == nil || n.natsBus.Load() != nil {
		return refused("share the record instead: parley fleet remote set URL", "an existing NATS system joins the hosts of this fleet, and an invitation line needs a port for links")
	}
	if host, _, carried := gitremote.Host(n.cfg.Remote); carried && host != n.cfg.Alias.String() {
		return refused("invite there: fleet invite, on "+host, host+" carries the record of this fleet, and invites")
	}
	if b.Addresses().Links == "" {
		if r.Listen == "" {
			return refused("parley fleet invite --listen ADDRESS:4223, with an address of this machine that the other one reaches", "this host takes no links of other hosts yet")
		}
		if _, err := n.hosts.Links.Open(ctx, control.OpenLinksRequest{Address: r.Listen, Advertise: r.Advertise}); err != nil {
			return line, err
		}
	}
	line = protocol.InviteLine{Addresses: r.Advertise, Alias: n.cfg.Alias, Key: n.signsWith.Load().Public, RecordID: n.record.ID()}
	if len(line.Addresses) == 0 {
		line.Addresses = b.Addresses().Advertised
	}
	for _, address := range line.Addresses {
		if err := protocol.CheckHostPort(address); err != nil {
			return line, control.Errorf(control.KindUsage, "", "cannot invite a host: %v", err)
		}
	}
	if len(line.Addresses) == 0 {
		return refused("name one: parley fleet invite --advertise HOST:PORT", "this machine has no address that others could reach")
	}
	_, err = n.carrying.Begin(ctx)
	return line, err
}

// names are the names that hosts of the record have or had.
func (n inviter) names() map[protocol.Name]bool {
	names := map[protocol.Name]bool{}
	n.folded(func(s *fleet.State) {
		for _, h := range s.Keys().AllHosts() {
			names[h.Alias] = true
		}
	})
	return names
}

// openRemote is a remote as a newcomer may be told of it: without what lets somebody in.
func openRemote(remote string) string {
	if redact.Remote(remote) == remote {
		return remote
	}
	u, err := url.Parse(remote)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

package node

import (
	"context"
	"errors"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/node/carry"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// openCarrying makes the parts by which hosts carry the record to each other.
func (n *Node) openCarrying() {
	n.carrying = &carry.Server{
		Served: func() carrier.Served {
			s := carrier.Served{Record: n.home.Record(), Pushed: n.record.Ring}
			if n.isCarrier.Load() {
				s.Shared = n.home.Shared()
			}
			return s
		},
		Trusted: func(key string) (protocol.Name, bool) { return n.hosts.Trusted(key) },
		Own:     func() string { return n.signsWith.Load().Public },
		Now:     n.now,
		Log:     n.log.With().Str("part", "carry").Logger(),
	}
	n.isCarrier.Store(homes.IsCarrier(n.cfg))
	n.dialler = &carry.Dialler{
		Home: n.home, Key: func() nkeys.KeyPair { return n.signsWith.Load().Pair },
		Of: func(host protocol.Name) bus.Hub {
			if n.hosts == nil { // the record is being opened
				return bus.Hub{Alias: host}
			}
			return n.hosts.Hubs.Of(host)
		},
	}
}

// otherHubs are the hosts that take links, to be asked for what they have of the record.
func (n *Node) otherHubs() (all []string) {
	if n.hosts == nil {
		return nil
	}
	for _, hub := range n.hosts.Hubs.List() {
		if hub.Alias != "" && hub.Alias != n.cfg.Alias {
			all = append(all, hub.Alias.String())
		}
	}
	return all
}

// Carry makes this host the carrier of a fleet that shares its record through nothing yet: it makes the
// repository, shares the record through it from now on, and writes that into config.yaml. If the record
// is shared already, nothing changes. The remote of a host that joins is returned.
func (n *Node) Carry(ctx context.Context) (remote string, err error) {
	if n.record.Shared() && !n.isCarrier.Load() {
		return n.cfg.Remote, nil
	}
	remote = homes.CarriedBy(n.cfg.Alias)
	if n.isCarrier.Load() {
		return remote, nil
	}
	if n.natsBus.Load() != nil {
		return "", errors.New("cannot carry the record: an existing NATS system joins the hosts, so that this one takes no links: share it through a git repository with parley fleet remote set URL")
	}
	if err := gitsync.MakeShared(n.home.Shared()); err != nil {
		return "", err
	}
	if err := n.record.Share(ctx, n.home.Shared()); err != nil {
		return "", err
	}
	n.isCarrier.Store(true)
	return remote, configs.SetRemote(n.home.Config(), remote)
}

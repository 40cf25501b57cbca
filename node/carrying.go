package node

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/node/carry"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// carrying is how this host and others carry the record to each other.
type carrying struct {
	*carry.Server // what others are served
	*carry.Dialler
	node      *Node
	isCarrier atomic.Bool // the fleet shares the record through this host
}

func newCarrying(n *Node) *carrying {
	c := &carrying{node: n}
	c.isCarrier.Store(homes.IsCarrier(n.cfg))
	c.Server = &carry.Server{
		Served: func() carrier.Served {
			s := carrier.Served{Record: n.home.Record(), Pushed: n.record.Ring}
			if c.isCarrier.Load() {
				s.Shared = n.home.Shared()
			}
			return s
		},
		Trusted: func(key string) (protocol.Name, bool) { return n.hosts.Trusted(key) },
		Own:     func() string { return n.signsWith.Load().Public },
		Guest:   func(key string) bool { return n.invites.Guest(key) },
		Log:     n.log.With().Str("part", "carry").Logger(),
	}
	c.Dialler = &carry.Dialler{
		Home: n.home, Key: func() nkeys.KeyPair { return n.signsWith.Load().Pair },
		Of: func(host protocol.Name) bus.Hub {
			if n.hosts == nil { // the record is being opened
				return bus.Hub{Alias: host}
			}
			return n.hosts.Hubs.Of(host)
		},
	}
	return c
}

// others are the hosts that take links, to be asked for what they have of the record.
func (c *carrying) others() (all []string) {
	for _, hub := range c.node.hosts.Hubs.List() {
		if hub.Alias != "" && hub.Alias != c.node.cfg.Alias {
			all = append(all, hub.Alias.String())
		}
	}
	return all
}

// Begin makes this host the carrier of a fleet that shares its record through nothing yet: it makes the
// repository, shares the record through it from now on, and writes that into config.yaml. If the record
// is shared already, nothing changes. It returns the remote of a host that joins.
func (c *carrying) Begin(ctx context.Context) (remote string, err error) {
	n := c.node
	remote = homes.CarriedBy(n.cfg.Alias)
	switch {
	case c.isCarrier.Load():
		return remote, nil
	case n.record.Shared():
		return n.cfg.Remote, nil
	case n.natsBus.Load() != nil:
		return "", errors.New("cannot carry the record: an existing NATS system joins the hosts, and this one takes no links; share the record with parley fleet remote set REPOSITORY")
	}
	if err := gitsync.MakeShared(n.home.Shared()); err != nil {
		return "", err
	}
	if err := n.record.Share(ctx, n.home.Shared()); err != nil {
		return "", err
	}
	c.isCarrier.Store(true)
	return remote, configs.SetRemote(n.home.Config(), remote)
}

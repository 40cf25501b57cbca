package bus

import (
	"slices"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/protocol"
)

// Recheck says that Options.Hubs or Options.Trusted may now give other answers. The dialler tries
// again at once. Every link and client is thrown out whose key no longer counts, or whose rights
// may have changed. Those that may come back do so by themselves.
func (b *Bus) Recheck() {
	if b.server == nil {
		return
	}
	if b.dialler != nil {
		b.recheckOut()
		b.dialler.poke()
	}
	for _, in := range b.entrance.links() {
		alias, counts := b.opts.Trusted(in.key)
		if counts && alias == in.host && in.carries == (in.takes && b.carries(in.host)) {
			continue
		}
		b.opts.Log.Info().Stringer("host", in.host).Bool("trusted", counts).Msg("a link ends: what its other end may do has changed")
		in.end()
	}
	b.entrance.streams.recheck()
	b.recheckClients()
}

// recheckOut ends the link that this host has dialled if its key no longer counts.
func (b *Bus) recheckOut() {
	o := b.tree.dialled()
	if o == nil {
		return
	}
	if alias, counts := b.opts.Trusted(o.key); !counts || alias != o.host {
		b.opts.Log.Info().Stringer("host", o.host).Msg("a link ends: the key of its other end counts no longer")
		o.end()
	}
}

// recheckClients ends the connections of clients whose key no longer counts.
func (b *Bus) recheckClients() {
	inner, err := b.inner.PublicKey()
	if err != nil {
		return
	}
	z, err := b.server.Connz(&server.ConnzOptions{Username: true, Limit: maxConnections})
	if err != nil {
		return
	}
	for _, c := range z.Conns {
		key := c.AuthorizedUser
		if !nkeys.IsValidPublicUserKey(key) || key == b.identity().public || key == inner {
			continue
		}
		if _, counts := b.opts.Trusted(key); !counts {
			_ = b.server.DisconnectClientByID(c.Cid) // if it has just gone, that is what is wanted
		}
	}
}

// carries reports whether the host may carry what the hosts behind it say: the fleet must know it
// as one that takes links.
func (b *Bus) carries(host protocol.Name) bool {
	return slices.ContainsFunc(b.hubs(), func(hub Hub) bool { return hub.Alias == host && len(hub.Addresses) > 0 })
}

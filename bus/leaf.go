package bus

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// lookupWait bounds the question whether a hub's name means this host.
const lookupWait = 2 * time.Second

// remoteOptions sets the one leaf remote: all hubs in their order, without
// ourselves. There is never a second one, because NATS cuts cycles of leaves.
func (b *Bus) remoteOptions(ctx context.Context, opts *server.Options) error {
	hubs, err := b.otherHubs(ctx)
	if err != nil || len(hubs) == 0 {
		return err
	}
	seed, err := b.opts.Key.Seed()
	if err != nil {
		return fmt.Errorf("cannot link to other hosts without the private key: %w", err)
	}
	remote := &server.RemoteLeafOpts{
		Nkey:                    string(seed),
		NoRandomize:             true,
		IgnoreDiscoveredServers: true,
		DialTimeout:             dialTimeout,
	}
	remote.Compression.Mode = server.CompressionOff
	for _, hub := range hubs {
		remote.URLs = append(remote.URLs, &url.URL{Scheme: "nats-leaf", Host: hub})
	}
	opts.LeafNode.Remotes = []*server.RemoteLeafOpts{remote}
	b.links.dial(hubs)
	return nil
}

// otherHubs are the configured hubs except this host, each one once.
func (b *Bus) otherHubs(ctx context.Context) ([]string, error) {
	own, err := b.opts.linksAddress()
	if err != nil {
		return nil, err
	}
	var hubs []string
	for _, hub := range b.opts.Hubs {
		_, port, err := splitAddress(hub)
		if err != nil {
			return nil, fmt.Errorf("cannot link to a hub: %w", err)
		}
		if port == 0 {
			return nil, fmt.Errorf("cannot link to a hub: address %q has no port", hub)
		}
		if slices.Contains(hubs, hub) || own != "" && sameListener(ctx, hub, own) {
			continue
		}
		hubs = append(hubs, hub)
	}
	return hubs, nil
}

// sameListener reports whether the address dialled leads to the listener at
// own on this machine, as far as names can be looked up. What it misses, the
// guard refuses.
func sameListener(ctx context.Context, dialled, own string) bool {
	host, port, err := splitAddress(dialled)
	if err != nil {
		return false
	}
	ownHost, ownPort, err := splitAddress(own)
	if err != nil || port != ownPort {
		return false
	}
	listens := addressesOf(ctx, ownHost)
	if slices.ContainsFunc(listens, net.IP.IsUnspecified) {
		listens = machineAddresses()
	}
	return slices.ContainsFunc(addressesOf(ctx, host), func(ip net.IP) bool {
		return ip.IsUnspecified() || slices.ContainsFunc(listens, ip.Equal)
	})
}

// addressesOf are the addresses of a host; an empty name means all of them.
func addressesOf(ctx context.Context, host string) []net.IP {
	if host == "" {
		return []net.IP{net.IPv4zero}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWait)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	return ips
}

func machineAddresses() []net.IP {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var ips []net.IP
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			ips = append(ips, n.IP)
		}
	}
	return ips
}

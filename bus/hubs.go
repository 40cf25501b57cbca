package bus

import (
	"net"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Hub is a host that other hosts can dial.
type Hub struct {
	Alias     protocol.Name // "" if an operator has named only an address
	Keys      []string      // keys that count for it now; if Alias is "", any key of the fleet counts
	Addresses []string      // host:port, the first one to try first
	Named     bool          // an operator has named it here: it is dialled without waiting for other hubs
}

type target struct {
	hub     Hub
	address string
}

// targets are the addresses to dial, in their order. A host that takes links dials the hosts before
// it in the alphabet. If it could link none of them for a while, `lonely` is true, and it also
// dials those behind it (see tree).
func (d *dialler) targets(lonely bool) []target {
	b := d.bus
	linked := b.linkedHere()
	var all []target
	for _, hub := range b.hubs() {
		up := b.takesLinks() && hub.Alias > b.opts.Alias
		if hub.Alias == b.opts.Alias || d.tree.avoids(hub.Alias, time.Now()) || up && (linked[hub.Alias] || !hub.Named && !lonely) {
			continue
		}
		for _, address := range d.sorted(hub.Addresses) {
			known := slices.ContainsFunc(all, func(t target) bool { return t.address == address && t.hub.Alias == hub.Alias })
			if !known && !b.isOwn(address) {
				all = append(all, target{hub, address})
			}
		}
	}
	return all
}

func (b *Bus) linkedHere() map[protocol.Name]bool {
	hosts := map[protocol.Name]bool{}
	for _, in := range b.entrance.links() {
		hosts[in.host] = true
	}
	return hosts
}

func (b *Bus) hubs() []Hub {
	if b.opts.Hubs == nil {
		return nil
	}
	return b.opts.Hubs()
}

func (b *Bus) takesLinks() bool {
	at, _ := b.entrance.address()
	return at != ""
}

// isOwn reports whether this host takes links at an address, as far as that shows without looking
// up names. If it misses that, the key shows it.
func (b *Bus) isOwn(address string) bool {
	own, _ := b.entrance.address()
	return own != "" && sameListener(address, own)
}

// sameListener reports whether the address `dialled` leads to the listener at `own` on this
// machine.
func sameListener(dialled, own string) bool {
	host, port, err := protocol.SplitHostPort(dialled)
	if err != nil {
		return false
	}
	ownHost, ownPort, err := protocol.SplitHostPort(own)
	if err != nil || port != ownPort {
		return false
	}
	listens := literal(ownHost)
	if slices.ContainsFunc(listens, net.IP.IsUnspecified) {
		listens = machineAddresses()
	}
	return slices.ContainsFunc(literal(host), func(ip net.IP) bool {
		return ip.IsUnspecified() || slices.ContainsFunc(listens, ip.Equal)
	})
}

// literal are the addresses of a host that is given as an address, or as localhost.
func literal(host string) []net.IP {
	if host == "localhost" {
		return []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	}
	if ip := net.ParseIP(host); ip != nil {
		return []net.IP{ip}
	}
	return nil
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

// upAfter is how long a host that takes links looks for a hub before it in the alphabet. After that
// it also dials those behind it.
const upAfter = 2 * time.Second

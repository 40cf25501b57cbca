package bus

import (
	"net"
	"slices"
	"strconv"

	"github.com/parleyfleet/parley/protocol"
)

// Addresses returns the addresses that are bound, and those to tell others. If all addresses of the
// machine are bound, the bound address stands as the operator wrote it.
func (b *Bus) Addresses() Addresses {
	if b.server == nil {
		return Addresses{}
	}
	var a Addresses
	if addr := b.server.Addr(); addr != nil {
		a.Clients = asAsked(b.opts.Listen, addr.String())
	}
	a.Links, a.Advertised = b.entrance.address()
	return a
}

// asAsked is an address that is bound. If all addresses of the machine are bound, it is the address
// as the operator wrote it, because the system says [::] for 0.0.0.0 too.
func asAsked(asked, bound string) string {
	host, _, err := protocol.SplitHostPort(asked)
	if err != nil {
		return bound
	}
	_, port, err := protocol.SplitHostPort(bound)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return bound
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// Advertised are the addresses at which others reach a port that is bound. They are those in
// `said`, which the operator has set. If that is empty, it is the bound address. If all addresses
// of the machine are bound, they are those at which other machines might reach it.
func Advertised(said []string, bound string) []string {
	if len(said) > 0 {
		return slices.Clone(said)
	}
	host, port, err := protocol.SplitHostPort(bound)
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return []string{bound}
	}
	var all []string
	for _, ip := range machineAddresses() {
		if ip.IsGlobalUnicast() && len(all) < protocol.MaxAddresses {
			all = append(all, net.JoinHostPort(ip.String(), strconv.Itoa(int(port))))
		}
	}
	return all
}

package bus

import (
	"net"
	"slices"
	"strconv"

	"github.com/parleyfleet/parley/protocol"
)

// Addresses are the addresses that are bound, and those to tell others.
func (b *Bus) Addresses() Addresses {
	if b.server == nil {
		return Addresses{}
	}
	var a Addresses
	if addr := b.server.Addr(); addr != nil {
		a.Clients = addr.String()
	}
	if b.entrance != nil {
		a.Links = b.entrance.address()
		a.Advertised = advertised(b.opts.Advertise, a.Links)
	}
	return a
}

// advertised are the addresses at which others reach a port that is bound: those
// that the operator says, else the bound one, else, where all of the machine's are
// bound, each that other machines could know.
func advertised(said []string, bound string) []string {
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

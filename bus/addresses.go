package bus

import (
	"net"
	"slices"
	"strconv"

	"github.com/parleyfleet/parley/protocol"
)

// Addresses are the addresses that are bound, all of the machine in the form in which
// they were asked for, and those to tell others.
func (b *Bus) Addresses() Addresses {
	if b.server == nil {
		return Addresses{}
	}
	var a Addresses
	if addr := b.server.Addr(); addr != nil {
		a.Clients = asAsked(b.opts.Listen, addr.String())
	}
	if b.entrance != nil {
		a.Links = b.entrance.address()
		a.Advertised = Advertised(b.opts.Advertise, a.Links)
	}
	return a
}

// asAsked is an address that is bound, where all of the machine are in the form in
// which that was asked for: the system says [::] for 0.0.0.0 too.
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

// Advertised are the addresses at which others reach a port that is bound. They
// are those that the operator says, else the bound one. Where all of the machine's
// are bound, they are each that other machines could know.
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

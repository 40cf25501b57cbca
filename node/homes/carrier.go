package homes

import (
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/protocol"
)

// CarriedBy is the remote of a fleet that shares its record through a host.
func CarriedBy(host protocol.Name) string { return "parley://" + host.String() }

// IsCarrier reports whether the remote of a host is the host itself.
func IsCarrier(c configs.Config) bool {
	host, record, ok := gitremote.Host(c.Remote)
	return ok && !record && host == c.Alias.String()
}

// RemoteOf is the remote of a home for its record: the carrier uses its own repository, which is made
// here if it is not there.
func RemoteOf(home configs.Home, c configs.Config) (string, error) {
	if !IsCarrier(c) {
		return c.Remote, nil
	}
	return home.Shared(), gitsync.MakeShared(home.Shared())
}

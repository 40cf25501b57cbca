// Package host holds the commands about the hosts of the fleet: parley fleet and parley ls. They say
// which hosts there are and who can be reached on them, and they remove hosts.
package host

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// NewCommand is parley fleet, as far as it is about hosts.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "fleet",
		Short: "The hosts and humans of the fleet, what it settled, where it shares",
		Example: `  parley fleet hosts
  parley fleet policy list`,
	}, newListCommand(p), newShowCommand(p), newPingCommand(p), newProbeCommand(p),
		newRotateCommand(p), newRevokeCommand(p), newRemoveCommand(p), newInviteCommand(p))
}

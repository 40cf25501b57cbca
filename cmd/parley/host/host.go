// Package host holds the commands about the hosts of the fleet: parley host and parley ls. They say
// which hosts there are and who can be reached on them, and they remove hosts.
package host

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// NewCommand is parley host.
func NewCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "host",
		Short:   "Say which hosts the fleet has, and how they fare",
		Example: `  parley host list`,
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageErrorf(cmd, "%s needs list, show, ping, probe, rotate, revoke or remove", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newListCommand(p), newShowCommand(p), newPingCommand(p), newProbeCommand(p),
		newRotateCommand(p), newRevokeCommand(p), newRemoveCommand(p))
	return cmd
}

package node

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// NewRemoteCommand is parley fleet remote.
func NewRemoteCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "remote",
		Short: "Show and set the repository through which the record is shared",
		Example: `  parley fleet remote show
  parley fleet remote set git@example.org:fleet/record.git`,
	}, newRemoteShowCommand(p), newRemoteSetCommand(p))
}

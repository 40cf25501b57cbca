package node

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// NewRemoteCommand is parley remote.
func NewRemoteCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "Show and set the repository through which the record is shared",
		Example: `  parley remote show
  parley remote set git@example.org:fleet/record.git`,
		Args: cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageErrorf(cmd, "%s needs show or set", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newRemoteShowCommand(p), newRemoteSetCommand(p))
	return cmd
}

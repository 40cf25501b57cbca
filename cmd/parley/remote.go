package main

import "github.com/spf13/cobra"

func newRemoteCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "Show and set the repository through which the record is shared",
		Example: `  parley remote show
  parley remote set git@example.org:fleet/record.git`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageErrorf(cmd, "%s needs show or set", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newRemoteShowCommand(p), newRemoteSetCommand(p))
	return cmd
}

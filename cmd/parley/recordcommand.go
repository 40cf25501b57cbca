package main

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

func newRecordCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "record",
		Short:   "Verify, count, export and rebuild the record",
		Example: `  parley record verify`,
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageErrorf(cmd, "%s needs verify, stats, export or rebuild", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newRecordVerifyCommand(p), newRecordStatsCommand(p), newRecordExportCommand(p), newRecordRebuildCommand(p))
	return cmd
}

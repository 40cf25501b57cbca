package main

import (
	"github.com/spf13/cobra"
)

func newRecordCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "record",
		Short:   "Verify, count, export and rebuild the record",
		Example: `  parley record verify`,
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageErrorf(cmd, "%s needs verify, stats, export or rebuild", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newRecordVerifyCommand(p), newRecordStatsCommand(p), newRecordExportCommand(p), newRecordRebuildCommand(p))
	return cmd
}

// Package record holds the commands that look after the record: parley record.
package record

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// NewCommand is parley record.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:     "record",
		Short:   "Verify, back up, export, rebuild the record; withhold, redact",
		Example: `  parley record verify`,
	}, newVerifyCommand(p), newStatsCommand(p), newExportCommand(p), newRebuildCommand(p), newWithholdCommand(p), newRedactCommand(p), newAdmitCommand(p), newBackupCommand(p), newRestoreCommand(p))
}

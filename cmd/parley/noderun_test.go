package main

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/cli/clitest"
	"github.com/spf13/cobra"
)

// nodeRun prepares a run of the commands of this package.
func nodeRun(t *testing.T) *clitest.Run {
	t.Helper()
	return clitest.New(t, func(p *cli.Program) *cobra.Command {
		return cli.NewRoot(p, newInitCommand(p), newJoinCommand(p), newUpCommand(p), newStopCommand(p), newStatusCommand(p), newLogsCommand(p), newConfigCommand(p), newRemoteCommand(p), newWakeCommand(p), newUpgradeCommand(p))
	})
}

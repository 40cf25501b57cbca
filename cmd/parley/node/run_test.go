package node

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/spf13/cobra"
)

// newRun prepares a run of the commands of this package.
func newRun(t *testing.T) *clitest.Run {
	t.Helper()
	return clitest.New(t, func(p *cli.Program) *cobra.Command {
		return cli.NewRoot(p, NewInitCommand(p), NewJoinCommand(p), NewUpCommand(p), NewStopCommand(p), NewStatusCommand(p), NewLogsCommand(p), NewConfigCommand(p), NewRemoteCommand(p), NewWakeCommand(p), NewUpgradeCommand(p))
	})
}

package bench

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newDispatchCommand(p *cli.Program) *cobra.Command {
	var r request
	cmd := &cobra.Command{
		Use:   "dispatch",
		Short: "Measure how soon agents answer, and how much of that a host takes",
		Long: `Measure how soon a message becomes an agent's work and its answer comes back,
how many of them a host takes, how fast hosts settle which of them does the
work, and how many messages programs can send: whole nodes with their records,
in one process, and an agent whose command is echo.
It takes a few minutes, with --quick about 15 seconds.

` + form,
		Example: `  parley bench dispatch
  parley bench dispatch --quick --only reply
  parley bench dispatch --strict --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), bench.Dispatch(), r, p.View())
		},
	}
	addFlags(p, cmd, &r)
	return cmd
}

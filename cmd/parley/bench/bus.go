package bench

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newBusCommand(p *cli.Program) *cobra.Command {
	var r request
	cmd := &cobra.Command{
		Use:   "bus",
		Short: "Measure how fast hosts hear each other, and what that costs",
		Long: `Measure how fast hosts hear each other, and what that costs: whole
nodes with their records, in one process, that share one repository and are
linked over loopback. It takes a few minutes, with --quick about 15 seconds.

` + form,
		Example: `  parley bench bus
  parley bench bus --quick --only hop
  parley bench bus --strict --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), bench.Bus(), r, p.View())
		},
	}
	addFlags(p, cmd, &r)
	return cmd
}

package bench

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newRecordCommand(p *cli.Program) *cobra.Command {
	var r request
	var scale int
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Measure how fast messages are kept, and what keeping them costs",
		Long: `Measure how fast this machine keeps messages, and what keeping them costs:
signed messages with 400 bytes of text, all in one channel on one day, which is
the hardest case. It takes some minutes, with --quick less than 20 seconds.

` + form,
		Example: `  parley bench record
  parley bench record --quick --only stored,throughput
  parley bench record --dir /srv --strict --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			suite := bench.Record(scale)
			switch sized := cmd.Flags().Changed("scale"); {
			case sized && scale < 1:
				return cli.UsageErrorf(cmd, "--scale needs a number of messages above zero")
			case sized && !suite.Takes("start", r.options.Only) && suite.Check(r.options.Only) == nil:
				return cli.UsageErrorf(cmd, "--scale is for the measure start, which --only leaves out")
			}
			return runBench(cmd.Context(), suite, r, p.View())
		},
	}
	addFlags(p, cmd, &r)
	cmd.Flags().IntVar(&scale, "scale", 0, "start a node on a record of `N` messages (default 100000, with --quick 2000)")
	return cmd
}

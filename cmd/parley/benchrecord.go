package main

import (
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newBenchRecordCommand(p *program) *cobra.Command {
	var r benchRequest
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Measure how fast messages are kept, and what keeping them costs",
		Long: `Measure how fast this machine keeps messages, and what keeping them costs: signed
messages with 400 bytes of text, all in one channel on one day, which is the
hardest case. It takes some minutes, with --quick less than 20 seconds.

` + benchForm,
		Example: `  parley bench record
  parley bench record --quick --only stored,throughput
  parley bench record --dir /srv --strict --json`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), bench.Record(), r, p.view())
		},
	}
	p.benchFlags(cmd, &r)
	return cmd
}

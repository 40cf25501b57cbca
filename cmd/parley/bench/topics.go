package bench

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newTopicsCommand(p *cli.Program) *cobra.Command {
	var r request
	cmd := &cobra.Command{
		Use:   "topics",
		Short: "Measure how soon you see what is worked on, after a year of it",
		Long: `Measure how soon you see what agents work on together where that has gone on for
a year: 500 topics of one agent with 50 partners, with agreements and a
sync-check a week, in a record of 200,000 messages. It takes a minute or two,
with --quick about 5 seconds.

` + form,
		Example: `  parley bench topics
  parley bench topics --quick --only year_list
  parley bench topics --strict --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), bench.Topics(), r, p.View())
		},
	}
	addFlags(p, cmd, &r)
	return cmd
}

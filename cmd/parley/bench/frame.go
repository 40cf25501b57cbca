package bench

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newFrameCommand(p *cli.Program) *cobra.Command {
	var r request
	cmd := &cobra.Command{
		Use:   "frame",
		Short: "Measure what inquiries take beside their agents",
		Long: `Measure how long an inquiry takes whose agents answer at once: from the question
to the synthesis, four perspectives on three hosts, its gates answered at once
by an open key; and how soon 16 members are started side by side. It takes about
half a minute, with --quick about 5 seconds.

` + form,
		Example: `  parley bench frame
  parley bench frame --quick --only pass`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), bench.Frame(), r, p.View())
		},
	}
	addFlags(p, cmd, &r)
	return cmd
}

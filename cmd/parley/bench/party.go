package bench

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newPartyCommand(p *cli.Program) *cobra.Command {
	var r request
	cmd := &cobra.Command{
		Use:   "party",
		Short: "Measure how soon parties are seen where there are many, and told",
		Long: `Measure how soon you see who is in parties and how far they are in sync, where
there are 200 parties with 1,000 members, each invited, accepted with a human's
key and scored by a sync-check; and how soon a party of 50 members on 10 hosts
is told something. It takes about a minute, with --quick about 5 seconds.

` + form,
		Example: `  parley bench party
  parley bench party --quick --only crowd_mesh
  parley bench party --strict --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), bench.Party(), r, p.View())
		},
	}
	addFlags(p, cmd, &r)
	return cmd
}

package bench

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/spf13/cobra"
)

func newSyncCommand(p *cli.Program) *cobra.Command {
	var r request
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Measure how soon a partner's sync-check is answered",
		Long: `Measure how soon it is known how far a partner is in sync: one whose node
answers, on another host; fifty such, side by side; one whose command answers in
the form of the protocol, with chatter around it; and one who never does. It
takes a minute, with --quick about 15 seconds.

` + form,
		Example: `  parley bench sync
  parley bench sync --quick --only examined
  parley bench sync --strict --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBench(cmd.Context(), bench.Sync(), r, p.View())
		},
	}
	addFlags(p, cmd, &r)
	return cmd
}

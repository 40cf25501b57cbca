package runs

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewCancelCommand is parley agent cancel.
func NewCancelCommand(p *cli.Program) *cobra.Command {
	var r control.CancelRequest
	cmd := &cobra.Command{
		Use:   "cancel MESSAGE",
		Short: "End an agent's work on a message, which waits or runs",
		Long: `End the work of this host's agents on a message, whether it waits, runs or is to
be tried again. A command that runs is ended with all that it has started. The
message is not tried again and is no dead letter; its sender is told who has
canceled it.`,
		Example: `  parley agent cancel b2c3d4e5
  parley agent cancel b2c3d4e5 --agent mawjs --reason 'asked by mistake'`,
		Args: cli.Exactly(1, "the id of a message"),
		RunE: cli.Asks(p, control.Cancel, func(args []string) control.CancelRequest {
			r.Message = args[0]
			return r
		}, showCanceled),
	}
	cmd.Flags().StringVar(&r.Agent, "agent", "", "only the work of the agent `NAME`")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "`WHY`, for the sender")
	return p.JSONFlag(cmd, "print an array of the jobs that were ended as JSON, as they stood")
}

func showCanceled(v cli.View, ended []control.Job) {
	for _, j := range ended {
		v.Out.Printf("%s no longer works on %s; %s is told\n", j.Agent, v.ID(j.Path), term.Line(j.From))
	}
}

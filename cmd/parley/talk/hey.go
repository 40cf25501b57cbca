package talk

import (
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewHeyCommand is parley hey.
func NewHeyCommand(p *cli.Program) *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:   "hey AGENT TEXT|-",
		Short: "Say something to an agent or a human",
		Long: `Say something to an agent or a human.

The message is stored when the command returns; the line it prints says so and
names the hosts that have heard it by then. With --wait, standard output is the
text of the reply alone and everything else goes to standard error.`,
		Example: `  parley hey mawjs hello there
  parley hey calc --wait 10s '2 ^ 64'
  git diff | parley hey reviewer -`,
		Args: cli.AtLeast(2, "an agent and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.Contains(args[0], ",") {
				return control.Errorf(control.KindUsage, "parley send --to "+term.Shell(args[0])+" TEXT says it to each of them; parley broadcast TEXT to all",
					"cannot say that to %q: hey speaks to one", term.Line(args[0]))
			}
			return sendText(p, cmd, flags, control.SendRequest{To: args[:1], Act: protocol.ActHey}, args[1:])
		},
	}
	cli.TakesText(cmd, 1)
	flags.register(p, cmd)
	flags.registerTo(cmd)
	cmd.ValidArgsFunction = p.CompleteNames
	return cmd
}

package talk

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewReplyCommand is parley reply.
func NewReplyCommand(p *cli.Program) *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:   "reply PATH TEXT|-",
		Short: "Answer a message",
		Long: `Answer a message, named by its path or by the eight hex digits of its name. The
answer goes to the message's author. If that is you, it goes to those to whom
you wrote.`,
		Example: `  parley reply b2c3d4e5 yes, go ahead
  make test 2>&1 | tail -20 | parley reply b2c3d4e5 -`,
		Args: cli.AtLeast(2, "the path of a message and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return sendText(p, cmd, flags, control.SendRequest{Re: args[0], Act: protocol.ActReply}, args[1:])
		},
	}
	cli.TakesText(cmd, 1)
	flags.register(p, cmd)
	return cmd
}

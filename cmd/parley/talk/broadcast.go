package talk

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewBroadcastCommand is parley broadcast.
func NewBroadcastCommand(p *cli.Program) *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:     "broadcast TEXT|-",
		Short:   "Say something to everyone in the fleet",
		Example: `  parley broadcast the release is out`,
		Args:    cli.AtLeast(1, "a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return sendText(p, cmd, flags, control.SendRequest{To: []string{protocol.All}, Act: protocol.ActBroadcast}, args)
		},
	}
	cli.TakesText(cmd, 0)
	flags.register(p, cmd)
	return cmd
}

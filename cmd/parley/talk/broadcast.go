package talk

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewBroadcastCommand is parley broadcast.
func NewBroadcastCommand(p *cli.Program) *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:   "broadcast TEXT|-",
		Short: "Say something to everyone in the fleet",
		Long: `Say something to everyone in the fleet. It runs the command of each agent, as
any message does; what it runs is printed first. With --fyi it runs none.

"parley broadcast stats" shows how many of the broadcasts that parties have made
were joined or answered within 7 days. A pair makes none unless it is told to.
If more than 80% are joined or answered, the fleet may want that the other way
round; the command only shows the number.`,
		Example: `  parley broadcast the release is out`,
		Args:    cli.AtLeast(1, "a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "stats" {
				client, err := p.Client()
				if err != nil {
					return err
				}
				return party.RunBroadcastStats(cmd.Context(), client, p.View())
			}
			return sendText(p, cmd, flags, control.SendRequest{To: []string{protocol.All}, Act: protocol.ActBroadcast}, args)
		},
	}
	cli.TakesText(cmd, 0)
	flags.register(p, cmd)
	return cmd
}

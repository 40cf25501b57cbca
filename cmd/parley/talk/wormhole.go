package talk

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewWormholeCommand is parley wormhole.
func NewWormholeCommand(p *cli.Program) *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:   "wormhole ALIAS:AGENT TEXT|-",
		Short: "Say something to an agent on a named host",
		Long: `Say something to an agent on the host with this alias. Otherwise the same as
hey, which takes AGENT@ALIAS too.`,
		Example: `  parley wormhole white:mawjs 'are you there?'
  parley wormhole white:calc --wait 10s '6 * 7'`,
		Args: cli.AtLeast(2, "ALIAS:AGENT and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return sendText(p, cmd, flags, control.SendRequest{To: args[:1], Act: protocol.ActHey, Cross: true}, args[1:])
		},
	}
	cli.TakesText(cmd, 1)
	flags.register(p, cmd)
	flags.registerTo(cmd)
	cmd.ValidArgsFunction = p.CompleteAddresses
	return cmd
}

package talk

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewSendCommand is parley send.
func NewSendCommand(p *cli.Program) *cobra.Command {
	var flags sendFlags
	var r control.SendRequest
	cmd := &cobra.Command{
		Use:   "send --to A[,B|all] | --re PATH  TEXT|-",
		Short: "Send a message to one, to several or to all, or as an answer",
		Long: `Send a message to one participant, to several or to all.

Without --channel it goes to the channel that those who take part have in
common; with --re to the channel of the message that it answers, and, where --to
names nobody, to that message's author. Each addressee leaves its own receipt:
"parley show" says who has read and who has answered.

A name that the fleet does not know is refused; --anyway writes to it all the
same.`,
		Example: `  parley send --to mawjs,volt who takes this?
  parley send --to all --channel sprint 'we begin'
  parley send --to critic --re b2c3d4e5 what do you think of that?
  parley send --to reviewer --wait 5m - < change.diff`,
		Args: cli.AtLeast(1, "a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.To = cli.SplitNames(r.To)
			if len(r.To) == 0 && r.Re == "" {
				return cli.UsageErrorf(cmd, "%s needs --to or --re: whom is it for?", cmd.CommandPath())
			}
			return sendText(p, cmd, flags, r, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&r.To, "to", nil, "addressees, separated by commas, or all (repeatable)")
	f.StringVar(&r.Channel, "channel", "", "the channel, by name or id")
	f.StringVar(&r.Re, "re", "", "the message that this one answers")
	cli.TakesText(cmd, 0)
	flags.register(p, cmd)
	flags.registerTo(cmd)
	p.CompleteFlags(cmd, "to", "channel")
	return cmd
}

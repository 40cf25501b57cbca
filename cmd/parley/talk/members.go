package talk

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newChannelMembersCommand(p *cli.Program) *cobra.Command {
	var r control.MembersRequest
	cmd := &cobra.Command{
		Use:   "members NAME",
		Short: "Say who the members of a channel are, or change that",
		Long: `Say who the members of a channel are, one a line, or change that.

Where a channel has members, a message to all there is for them alone; anybody
may still write there, to whomever they name. Without members it is for
everybody.`,
		Example: `  parley channel members sprint
  parley channel members sprint --add mawjs,volt --remove neo`,
		Args: cli.Exactly(1, "a channel, by name or id"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.Channel, r.Add, r.Remove = args[0], cli.SplitNames(r.Add), cli.SplitNames(r.Remove)
			return runChannelMembers(cmd.Context(), r, client, v)
		}),
		ValidArgsFunction: p.CompleteChannels,
	}
	cli.AsFlag(cmd, &r.As, "who changes them")
	cmd.Flags().StringArrayVar(&r.Add, "add", nil, "new members, separated by commas (repeatable)")
	cmd.Flags().StringArrayVar(&r.Remove, "remove", nil, "who is to be none any more, separated by commas (repeatable)")
	p.CompleteFlags(cmd, "add", "remove")
	return p.JSONFlag(cmd, "print the channel as JSON")
}

func runChannelMembers(ctx context.Context, r control.MembersRequest, client control.Service, v cli.View) error {
	var c control.Channel
	var err error
	if len(r.Add)+len(r.Remove) == 0 {
		c, err = control.ShowChannel.Ask(ctx, client, control.ChannelRequest{Channel: r.Channel})
	} else {
		v.Acting(ctx, r.As, client)
		c, err = control.ChangeMembers.Ask(ctx, client, r)
	}
	return v.Show(c, err, func() {
		if len(c.Members) == 0 {
			v.Err.Printf("%s has no members: a message to all there is for everybody\n", channelName(c))
			return
		}
		for _, m := range c.Members {
			v.Out.Printf("%s\n", term.Line(m))
		}
		v.Next("parley send --channel "+cli.ShellWord(nameOrID(c))+" --to all TEXT", "say something to "+strings.Join(c.Members, ", "))
	})
}

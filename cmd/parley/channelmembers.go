package main

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newChannelMembersCommand(p *program) *cobra.Command {
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
		Args: exactly(1, "a channel, by name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			r.Channel, r.Add, r.Remove = args[0], splitNames(r.Add), splitNames(r.Remove)
			return runChannelMembers(cmd.Context(), r, client, p.view())
		},
	}
	asFlag(cmd, &r.As, "who changes them")
	cmd.Flags().StringArrayVar(&r.Add, "add", nil, "new members, separated by commas (repeatable)")
	cmd.Flags().StringArrayVar(&r.Remove, "remove", nil, "who is to be none any more, separated by commas (repeatable)")
	p.jsonFlag(cmd, "print the channel as JSON")
	p.completeFlags(cmd, "add", "remove")
	cmd.ValidArgsFunction = p.completeChannels
	return cmd
}

func runChannelMembers(ctx context.Context, r control.MembersRequest, client control.Service, v view) error {
	var c control.Channel
	var err error
	if len(r.Add)+len(r.Remove) == 0 {
		c, err = control.ShowChannel.Ask(ctx, client, control.ChannelRequest{Channel: r.Channel})
	} else {
		v.acting(ctx, r.As, client)
		c, err = control.ChangeMembers.Ask(ctx, client, r)
	}
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(c)
	}
	if len(c.Members) == 0 {
		v.err.Printf("%s has no members: a message to all there is for everybody\n", channelName(c))
		return nil
	}
	for _, m := range c.Members {
		v.out.Printf("%s\n", term.Line(m))
	}
	v.next("parley send --channel "+shellWord(nameOrID(c))+" --to all TEXT", "say something to "+strings.Join(c.Members, ", "))
	return nil
}

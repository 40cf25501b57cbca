package talk

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewChannelCommand is parley channel.
func NewChannelCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "channel",
		Short: "Make, list and describe channels",
		Long: `Make, list and describe channels.

Two participants, or the same list of them, have a channel of their own without
anybody making it. A channel with a name says what it is for, in its CHANNEL.md,
and agents are given that as context. A channel can belong to another one, and
it can have members: then a message to all there is for them.`,
		Example: `  parley channel new sprint --about 'what we do this week'`,
	}, newChannelNewCommand(p), newChannelListCommand(p), newChannelShowCommand(p), newChannelMembersCommand(p))
}

func newChannelNewCommand(p *cli.Program) *cobra.Command {
	var r control.NewChannelRequest
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a channel with a name",
		Long: `Make a channel with a name that nobody has used yet. --about says what it is for
("-" reads that from standard input); --parent makes it a sub-channel; --member
says whom "--to all" means there, instead of everybody.`,
		Example: `  parley channel new sprint --about 'what we do this week'
  parley channel new release --member mawjs --member volt
  parley channel new pi-estimation --parent sprint --about - < purpose.md`,
		Args: cli.Exactly(1, "a name"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if r.About == "-" {
				text, err := p.Text(cmd, []string{"-"})
				if err != nil {
					return err
				}
				r.About = text
			}
			r.Name, r.Members = args[0], cli.SplitNames(r.Members)
			return runChannelNew(cmd.Context(), r, client, v)
		}),
	}
	cli.AsFlag(cmd, &r.As, "who makes it")
	cmd.Flags().StringVar(&r.Parent, "parent", "", "the channel that it belongs to, by name or id")
	cmd.Flags().StringVar(&r.About, "about", "", "what it is for; - reads it from standard input")
	cmd.Flags().StringArrayVar(&r.Members, "member", nil, "whom \"--to all\" means there, separated by commas (repeatable; default: everybody)")
	p.CompleteFlags(cmd, "parent", "member")
	return p.JSONFlag(cmd, "print the channel as JSON")
}

func runChannelNew(ctx context.Context, r control.NewChannelRequest, client control.Service, v cli.View) error {
	v.Acting(ctx, r.As, client)
	c, err := control.NewChannel.Ask(ctx, client, r)
	return v.Show(c, err, func() {
		v.Out.Printf("%s  %s\n", c.ID, term.Line(c.Name))
		v.Next("parley send --channel "+cli.ShellWord(c.Name)+" --to all TEXT", "say something there")
	})
}

func newChannelListCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the channels of the record",
		Example: `  parley channel list`,
		Args:    cli.Exactly(0, "nothing"),
		RunE:    cli.Asks(p, control.Channels.Verb, nil, showChannelList),
	}, "print an array of channels as JSON")
}

func showChannelList(v cli.View, channels []control.Channel) {
	if len(channels) == 0 {
		v.Err.Printf("nobody has said anything yet\n")
		v.Next("parley channel new NAME", "make a channel with a name")
		return
	}
	names := channelNames(channels)
	t := term.Table{Heading: []string{"CHANNEL", "ID", "MESSAGES", "LAST", "PART OF", "MEMBERS"}, Flexible: 0}
	for _, c := range channels {
		t.Rows = append(t.Rows, []string{names[c.ID], c.ID.String(), strconv.Itoa(c.Messages), v.StampOrEmpty(c.Last), names[c.Parent], memberNames(c)})
	}
	v.Table(t, cli.Squeeze{Column: 5, Least: 12}, cli.Squeeze{Column: 0, Least: 20}, cli.Squeeze{Column: 3, Least: cli.DayWidth, Cut: cli.ToDay}, cli.Squeeze{Column: 4}, cli.Squeeze{Column: 5}, cli.Squeeze{Column: 3})
	v.Next("parley channel show "+cli.ShellWord(nameOrID(channels[0])), "what it is for and who takes part")
}

// channelNames are the names that people use for channels: their own names, or else the names of
// the participants.
func channelNames(channels []control.Channel) map[protocol.ChannelID]string {
	names := map[protocol.ChannelID]string{}
	for _, c := range channels {
		names[c.ID] = ChannelName(c)
	}
	return names
}

func memberNames(c control.Channel) string { return term.Line(strings.Join(c.Members, ", ")) }

// ChannelName is the name that people use for a channel: its own, or those of who takes part.
func ChannelName(c control.Channel) string {
	if c.Name != "" {
		return term.Line(c.Name)
	}
	return "(" + term.Line(strings.Join(c.Participants, ", ")) + ")"
}

func newChannelShowCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "show NAME",
		Short:   "Say what a channel is for and who takes part",
		Example: `  parley channel show sprint`,
		Args:    cli.Exactly(1, "a channel, by name or id"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			return runChannelShow(cmd.Context(), control.ChannelRequest{Channel: args[0]}, client, v)
		}),
		ValidArgsFunction: p.CompleteChannels,
	}, "print the channel as JSON")
}

func runChannelShow(ctx context.Context, r control.ChannelRequest, client control.Service, v cli.View) error {
	c, err := control.ShowChannel.Ask(ctx, client, r)
	return v.Show(c, err, func() {
		field := func(name, value string) { v.Labelled(9, name, value) }
		field("name", c.Name)
		field("id", c.ID.String())
		field("part of", channelNameOf(ctx, client, c.Parent.String(), v))
		for _, child := range c.Children {
			field("has", channelNameOf(ctx, client, child.String(), v))
		}
		if c.CreatedBy != "" || !c.CreatedAt.IsZero() {
			field("made by", strings.TrimSpace(c.CreatedBy+", "+v.At(c.CreatedAt, cli.TimeForm)))
		}
		field("members", memberNames(c))
		field("with", strings.Join(c.Participants, ", "))
		messages := cli.Count(c.Messages, "message")
		if c.Messages > 0 {
			messages += ", the last " + v.At(c.Last, cli.TimeForm)
		}
		field("holds", messages)
		if c.About != "" {
			v.Out.Printf("\n%s\n", v.Out.Body(c.About))
		}
		v.Next("parley attach "+cli.ShellWord(nameOrID(c)), "watch it live")
	})
}

// channelNameOf is the name that people use for the channel with an id; "" if the id is "".
func channelNameOf(ctx context.Context, client control.Service, id string, v cli.View) string {
	if id == "" {
		return ""
	}
	c, err := control.ShowChannel.Ask(ctx, client, control.ChannelRequest{Channel: id})
	if err != nil {
		return id
	}
	return ChannelName(c)
}

func nameOrID(c control.Channel) string {
	return cmp.Or(c.Name, c.ID.String())
}

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
			v.Err.Printf("%s has no members: a message to all there is for everybody\n", ChannelName(c))
			return
		}
		for _, m := range c.Members {
			v.Out.Printf("%s\n", term.Line(m))
		}
		v.Next("parley send --channel "+cli.ShellWord(nameOrID(c))+" --to all TEXT", "say something to "+strings.Join(c.Members, ", "))
	})
}

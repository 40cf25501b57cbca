package talk

import (
	"bufio"
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

const attachLast = 20

// NewAttachCommand is parley attach.
func NewAttachCommand(p *cli.Program) *cobra.Command {
	var r control.LogRequest
	var as string
	cmd := &cobra.Command{
		Use:   "attach CHANNEL",
		Short: "Watch a channel live: whole messages, and who reads them",
		Long: `Watch a channel live: what it is for, its last messages with their whole texts,
and then those to come, and who has read them. What is for you counts as read
once a terminal has shown it; what others write to each other does not.
"parley log --follow" shows one line a message instead. Ctrl-C ends it.`,
		Example: `  parley attach sprint
  parley attach adfe0356-0f71-49a9-80a0-fb76883cd974 --json`,
		Args: cli.Exactly(1, "a channel, by name or id"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if r.Last < 0 {
				return cli.UsageErrorf(cmd, "-n needs a number of messages, 0 for all")
			}
			r.Channel = args[0]
			return runAttach(cmd.Context(), r, as, client, v)
		}),
		ValidArgsFunction: p.CompleteChannels,
	}
	cli.AsFlag(cmd, &as, "who watches")
	cmd.Flags().IntVarP(&r.Last, "last", "n", attachLast, "begin with the last `N` messages; 0: all")
	return p.JSONFlag(cmd, "print messages as JSON, one a line")
}

func runAttach(ctx context.Context, r control.LogRequest, as string, client control.Service, v cli.View) error {
	channel, err := control.ShowChannel.Ask(ctx, client, control.ChannelRequest{Channel: r.Channel})
	if err != nil {
		return err
	}
	r.Channel = channel.ID.String()
	watched := v.Out.Terminal && !v.JSON // by a person, not by a program
	r.Everything = watched               // receipts show who reads
	read, me := func(control.Message) {}, ""
	if watched {
		who, err := control.Shown.Ask(ctx, client, control.ShownRequest{As: as})
		if err != nil {
			return err // no participant who could read has that name
		}
		me = who.As
		v.Acting(ctx, as, client)
		seen := startReceipts(client, as, func(err error) { noteNotMarked(v, err) })
		defer seen.end()
		read = seen.add
	}
	buffered := bufio.NewWriter(v.Out.Writer)
	v.Out.Writer = buffered
	if !v.JSON {
		showChannelHead(v, channel)
	}
	f := follower{
		client: client,
		show: func(m control.Message) error {
			if m.Type == protocol.TypeRead && m.From == me {
				return nil // the watching person knows it
			}
			if v.JSON {
				if err := v.WriteJSON(m); err != nil {
					return err
				}
			} else {
				showWhole(v, m)
			}
			if err := buffered.Flush(); err != nil {
				return err
			}
			read(m)
			return nil
		},
		away: func() { v.Err.Printf("%s\n", v.Err.Warn("the node went away; waiting for it")) },
		back: func() { v.Err.Printf("%s\n", v.Err.Dim("the node is back")) },
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return f.run(ctx, r)
}

func showChannelHead(v cli.View, c control.Channel) {
	v.Out.Printf("%s  %s\n", v.Out.Bold(ChannelName(c)), v.Out.Dim(c.ID.String()))
	if c.About != "" {
		for _, line := range term.Wrap(v.Out.Body(c.About), v.Out.Width) {
			v.Out.Printf("%s\n", v.Out.Dim(line))
		}
	}
	v.Out.Printf("\n")
}

// textIndent stands before the lines of a message's text.
const textIndent = "  "

// showWhole shows a message with its text below it. A receipt is shown in one line.
func showWhole(v cli.View, m control.Message) {
	if m.Type == protocol.TypeRead {
		v.Out.Printf("%s\n", v.Out.Dim(v.Stamp(m.Timestamp)+"  read by "+term.Line(Sender(m))+": "+refSuffix(m)))
		return
	}
	head := v.Out.Bold(term.Line(Sender(m))) + " → " + term.Line(strings.Join(m.To, ", "))
	if act := unusualAct(m); act != "" {
		head += " [" + act + "]"
	}
	mark := ""
	for _, doubt := range Doubts(m) {
		mark += "  " + v.Out.Warn(term.Line(doubt))
	}
	v.Out.Printf("%s  %s  %s%s\n", v.Stamp(m.Timestamp), head, v.Out.Dim(v.ID(m.Path)), mark)
	width := 0
	if v.Out.Width > 0 {
		width = v.Out.Width - term.Width(textIndent)
	}
	for _, line := range term.Wrap(v.Out.Body(m.Body), width) {
		if line != "" {
			line = textIndent + line
		}
		v.Out.Printf("%s\n", line)
	}
	v.Out.Printf("\n")
}

func refSuffix(m control.Message) string {
	if p, err := protocol.ParsePath(m.Ref); err == nil && p.Suffix() != "" {
		return p.Suffix()
	}
	return term.Line(m.Ref)
}

package talk

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// How many messages log shows at a terminal if no number is given (a program gets all), and how
// many it shows first when it follows.
const (
	logLast      = 50
	followedLast = 10
)

// NewLogCommand is parley log.
func NewLogCommand(p *cli.Program) *cobra.Command {
	var r control.LogRequest
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the messages of the record, oldest first",
		Example: `  parley log -n 20
  parley log --follow
  parley log --channel sprint --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			if r.Last < 0 {
				return cli.UsageErrorf(cmd, "-n needs a number of messages, 0 for all")
			}
			switch {
			case cmd.Flags().Changed("last"):
			case r.Follow:
				r.Last = followedLast
			case p.ForPeople():
				r.Last = logLast
			}
			return runLog(cmd.Context(), r, client, v)
		}),
	}
	cmd.Flags().BoolVarP(&r.Follow, "follow", "f", false, "begin with the last 10 and go on with those to come")
	cmd.Flags().StringVar(&r.Channel, "channel", "", "only this channel, by name or id")
	cmd.Flags().IntVarP(&r.Last, "last", "n", 0, "only the last `N` messages; 0: all (default at a terminal: 50)")
	cmd.Flags().BoolVar(&r.Everything, "all", false, "receipts and the fleet's book-keeping too")
	p.CompleteFlags(cmd, "channel")
	return p.JSONFlag(cmd, "print messages as JSON, one a line")
}

func runLog(ctx context.Context, r control.LogRequest, client control.Service, v cli.View) error {
	buffered := bufio.NewWriter(v.Out.Writer)
	v.Out.Writer = buffered
	lines := logLines{v: v, oneChannel: r.Channel != ""}
	if r.Follow {
		lines.whoWidth, lines.channelWidth = maxWho(v, 33), maxChannel(v)
		if lines.oneChannel {
			lines.channelWidth = 0
		}
	}
	shown, unread := 0, 0
	err := control.Log.Ask(ctx, client, r, func(m control.Message) error {
		shown++
		if m.Unreadable != "" {
			unread++
		}
		if v.JSON {
			if err := v.WriteJSON(m); err != nil {
				return err
			}
		} else {
			lines.add(m)
		}
		if r.Follow {
			return buffered.Flush()
		}
		return nil
	})
	lines.settle()
	if flushErr := buffered.Flush(); err == nil {
		err = flushErr
	}
	if r.Follow && ctx.Err() != nil {
		return nil // this is how following ends
	}
	if err == nil && v.Out.Terminal && !v.JSON && r.Last > 0 && shown == r.Last {
		v.Err.Printf("%s\n", v.Err.Dim(fmt.Sprintf("the last %d; all of them: %s", shown, v.Command("parley log -n 0"))))
	}
	if err == nil && unread > 0 {
		err = control.Errorf(control.KindFailed, "what is lost, and what may bring it back: parley record verify", "the text of %s cannot be read", cli.Count(unread, "message"))
	}
	return err
}

// logLines aligns lines, of which the later ones are not known yet. Its columns stay where they are:
// they are as wide as the first lines need, or as they may be if lines are shown as they come.
type logLines struct {
	v            cli.View
	days         cli.Days
	oneChannel   bool // all of them are in the same channel, which need not be shown
	held         []control.Message
	whoWidth     int
	channelWidth int
}

// logHeld is how many lines are looked at before the width of the columns is settled.
const logHeld = 100

// add shows a message, once the columns are settled.
func (l *logLines) add(m control.Message) {
	if l.whoWidth > 0 {
		l.show(m)
	} else if l.held = append(l.held, m); len(l.held) == logHeld {
		l.settle()
	}
}

// settle settles the columns, and shows what was held.
func (l *logLines) settle() {
	for _, m := range l.held {
		l.whoWidth = min(max(l.whoWidth, term.Width(fromTo(m))), maxWho(l.v, 33))
		l.channelWidth = min(max(l.channelWidth, term.Width(l.channel(m))), maxChannel(l.v))
	}
	for _, m := range l.held {
		l.show(m)
	}
	l.held = nil
}

func fromTo(m control.Message) string {
	return term.Line(Sender(m) + " → " + strings.Join(m.To, ", "))
}

// maxWho is how wide the column of names may be; in a narrow terminal, a share in percent of what
// the time leaves.
func maxWho(v cli.View, percent int) int {
	if v.Narrow() {
		return max(8, (v.Out.Width-len(cli.ClockForm))*percent/100)
	}
	return 36
}

// maxChannel is how wide the column of channels may be.
func maxChannel(v cli.View) int {
	if v.Narrow() {
		return max(8, v.Out.Width*15/100)
	}
	return 24
}

// leastText is the width from which on a text leaves room for something beside it.
const leastText = 24

// show shows a message in one line: when, from whom to whom, the channel if it is not the one of
// these two, the id, and the summary. If the terminal has room, it shows for a message to several
// how many have read it.
func (l *logLines) show(m control.Message) {
	v := l.v
	cell := func(text string, width int) string {
		if v.Out.Terminal {
			text = term.Cut(text, width)
		}
		return term.Pad(text, width) + "  "
	}
	head := l.days.Clock(v, m.Timestamp, cli.ClockForm, time.RFC3339) + "  " + cell(fromTo(m), l.whoWidth)
	if l.channelWidth > 0 {
		head += cell(l.channel(m), l.channelWidth)
	}
	id, text, reached := v.ID(m.Path), Summary(m), ""
	if v.Out.Width > 0 {
		room := v.Out.Width - term.Width(head+id) - 2
		if short := shortReach(m); short != "" && len(m.Addressees) > 1 && room-term.Width(short)-2 >= leastText {
			reached = "  " + short
		}
		text = term.Cut(text, max(8, room-term.Width(reached)))
	}
	v.Out.Printf("%s\n", strings.TrimRight(head+v.Out.Dim(id)+"  "+text+v.Out.Dim(reached), " "))
}

// channel is the cell that names the channel of a message. It is empty if the author and the
// addressees say that already.
func (l *logLines) channel(m control.Message) string {
	if l.oneChannel || m.Direct && m.ChannelName == "" {
		return ""
	}
	return ChannelLabel(m)
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// How many messages log shows at a terminal where nothing else is said (a program
// gets all), and how many it begins with when it follows.
const (
	logLast      = 50
	followedLast = 10
)

func newLogCommand(p *program) *cobra.Command {
	var r control.LogRequest
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the messages of the record, oldest first",
		Example: `  parley log -n 20
  parley log --follow
  parley log --channel sprint --json`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.Last < 0 {
				return usageErrorf(cmd, "-n needs a number of messages, 0 for all")
			}
			switch {
			case cmd.Flags().Changed("last"):
			case r.Follow:
				r.Last = followedLast
			case p.forPeople():
				r.Last = logLast
			}
			client, err := p.client()
			if err != nil {
				return err
			}
			return runLog(cmd.Context(), r, client, p.view())
		},
	}
	cmd.Flags().BoolVarP(&r.Follow, "follow", "f", false, "begin with the last 10 and go on with those to come")
	cmd.Flags().StringVar(&r.Channel, "channel", "", "only this channel, by name or id")
	cmd.Flags().IntVarP(&r.Last, "last", "n", 0, "only the last `N` messages; 0: all (default at a terminal: 50)")
	cmd.Flags().BoolVar(&r.Everything, "all", false, "receipts and the fleet's book-keeping too")
	p.jsonFlag(cmd, "print messages as JSON, one a line")
	p.completeFlags(cmd, "channel")
	return cmd
}

func runLog(ctx context.Context, r control.LogRequest, client control.Service, v view) error {
	buffered := bufio.NewWriter(v.out.Writer)
	v.out.Writer = buffered
	var lines logLines
	shown := 0
	err := client.Log(ctx, r, func(m control.Message) error {
		shown++
		if v.json {
			if err := v.writeJSON(m); err != nil {
				return err
			}
		} else {
			v.out.Printf("%s\n", lines.format(m, v))
		}
		if r.Follow {
			return buffered.Flush()
		}
		return nil
	})
	if flushErr := buffered.Flush(); err == nil {
		err = flushErr
	}
	if r.Follow && ctx.Err() != nil {
		return nil // how following ends
	}
	if err == nil && v.out.Terminal && !v.json && r.Last > 0 && shown == r.Last {
		v.err.Printf("%s\n", v.err.Dim(fmt.Sprintf("the last %d; all of them: %s", shown, v.command("parley log -n 0"))))
	}
	return err
}

// logLines aligns lines of which the later ones are not known yet.
type logLines struct {
	whoWidth int
}

// maxWho is the width up to which the column of names grows: in a narrow terminal
// the given share of it in percent, which leaves room for the text.
func (v view) maxWho(percent int) int {
	if v.narrow() {
		return v.out.Width * percent / 100
	}
	return 36
}

// leastText is the width of text beside which there is room for more.
const leastText = 24

// format is one line: when, who to whom, the path, the act where it is unusual,
// the text and, at a terminal where it went to several and there is room, how many
// have read it.
func (l *logLines) format(m control.Message, v view) string {
	who := term.Line(sender(m) + " → " + strings.Join(m.To, ", "))
	l.whoWidth = min(max(l.whoWidth, term.Width(who)), v.maxWho(30))
	if v.narrow() {
		who = term.Cut(who, l.whoWidth)
	}
	text := firstLine(m.Body)
	switch act := unusualAct(m); {
	case m.Act == protocol.ActReply:
		text = "↳ " + text
	case act != "":
		text = strings.TrimSpace("[" + act + "] " + text)
	}
	if m.Signature == protocol.SignatureRefused {
		text = "[refused] " + text
	}
	path := v.path(m.Path)
	form := shortForm
	if v.out.Terminal && v.out.Width < 72 {
		form = minuteForm
	}
	head := v.at(m.Timestamp, form) + "  " + term.Pad(who, l.whoWidth) + "  "
	reached := ""
	if v.out.Width > 0 {
		room := v.out.Width - term.Width(head+path) - 2
		if short := shortReach(m); short != "" && len(m.Addressees) > 1 && room-term.Width(short)-2 >= leastText {
			reached = "  " + short
		}
		text = term.Cut(text, max(8, room-term.Width(reached)))
	}
	return strings.TrimRight(head+v.out.Dim(path)+"  "+text+v.out.Dim(reached), " ")
}

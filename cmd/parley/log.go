package main

import (
	"bufio"
	"context"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// followedLast is how many messages log --follow begins with.
const followedLast = 10

func newLogCommand(p *program) *cobra.Command {
	var r control.LogRequest
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the messages of the record, oldest first",
		Example: `  parley log -n 20
  parley log --follow
  parley log --channel adfe0356-0f71-49a9-80a0-fb76883cd974 --json`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.Last < 0 {
				return usageErrorf(cmd, "-n needs a number of messages, 0 for all")
			}
			if r.Follow && !cmd.Flags().Changed("last") {
				r.Last = followedLast
			}
			client, err := p.client()
			if err != nil {
				return err
			}
			return runLog(cmd.Context(), r, client, p.view())
		},
	}
	cmd.Flags().BoolVarP(&r.Follow, "follow", "f", false, "begin with the last 10 and go on with those to come")
	cmd.Flags().StringVar(&r.Channel, "channel", "", "only the channel with this id")
	cmd.Flags().IntVarP(&r.Last, "last", "n", 0, "only the last `N` messages; 0: all")
	cmd.Flags().BoolVar(&r.Everything, "all", false, "receipts and the fleet's book-keeping too")
	p.jsonFlag(cmd, "print messages as JSON, one a line")
	return cmd
}

func runLog(ctx context.Context, r control.LogRequest, client control.Service, v view) error {
	buffered := bufio.NewWriter(v.out.Writer)
	v.out.Writer = buffered
	var lines logLines
	err := client.Log(ctx, r, func(m control.Message) error {
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
	return err
}

// logLines aligns lines of which the later ones are not known yet.
type logLines struct {
	whoWidth int
}

// maxWho is the width up to which the column of names grows.
const maxWho = 36

// format is one line: when, who to whom, the path, the act where it is unusual
// and the text.
func (l *logLines) format(m control.Message, v view) string {
	who := term.Line(sender(m) + " → " + strings.Join(m.To, ", "))
	l.whoWidth = min(max(l.whoWidth, term.Width(who)), maxWho)
	text := firstLine(m.Body)
	if act := unusualAct(m); act != "" {
		text = strings.TrimSpace("[" + act + "] " + text)
	}
	path := v.path(m.Path)
	head := v.at(m.Timestamp, shortForm) + "  " + term.Pad(who, l.whoWidth) + "  "
	if v.out.Width > 0 {
		text = term.Cut(text, max(8, v.out.Width-term.Width(head+path)-2))
	}
	return strings.TrimRight(head+v.out.Dim(path)+"  "+text, " ")
}

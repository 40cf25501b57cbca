package talk

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewInboxCommand is parley inbox.
func NewInboxCommand(p *cli.Program) *cobra.Command {
	var r control.InboxRequest
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "List the mail that is waiting, oldest first",
		Example: `  parley inbox
  parley inbox --as mawjs --all --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.Limit < 0 {
				return cli.UsageErrorf(cmd, "-n needs a number of messages, 0 for all")
			}
			if !cmd.Flags().Changed("limit") && p.ForPeople() {
				r.Limit = inboxLimit
			}
			client, err := p.Client()
			if err != nil {
				return err
			}
			return RunInbox(cmd.Context(), r, client, p.View())
		},
	}
	cli.AsFlag(cmd, &r.As, "whose mail")
	cmd.Flags().BoolVar(&r.All, "all", false, "what was read already too")
	cmd.Flags().IntVarP(&r.Limit, "limit", "n", 0, "only the first `N` messages; 0: all (default at a terminal: 100)")
	p.JSONFlag(cmd, "print an array of messages as JSON")
	return cmd
}

// inboxLimit is how many messages inbox lists at a terminal where nothing else is
// said. A program gets all.
const inboxLimit = 100

// RunInbox lists the mail that is waiting, as parley inbox does.
func RunInbox(ctx context.Context, r control.InboxRequest, client control.Service, v cli.View) error {
	limit := r.Limit
	if limit > 0 {
		r.Limit++ // one more tells whether there are more
	}
	v.Acting(ctx, r.As, client)
	mail, err := control.Inbox.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if limit > 0 && len(mail) > limit {
		mail = mail[:limit]
		v.Err.Printf("%s\n", v.Err.Dim(fmt.Sprintf("more is waiting than the first %d: -n 0 lists all", limit)))
	}
	if v.JSON {
		return v.WriteJSON(mail)
	}
	if len(mail) == 0 {
		if v.Out.Terminal {
			v.Out.Printf("Nothing is waiting.\n")
		}
		v.Next("parley inbox --all"+cli.SayAs(r.As), "what was read already")
		return nil
	}
	mailTable(v, mail)
	v.Next("parley read "+v.ID(mail[0].Path)+cli.SayAs(r.As), "read the first; its sender gets a receipt")
	return nil
}

// mailTable lists messages, one a line.
func mailTable(v cli.View, mail []control.Message) {
	t := term.Table{Heading: []string{"TIME", "FROM", "CHANNEL", "ID", "TEXT"}, Flexible: 4}
	for _, m := range mail {
		t.Rows = append(t.Rows, []string{
			v.Stamp(m.Timestamp, v.LineForm()), term.Line(Sender(m)), channelLabel(m), v.ID(m.Path), summary(m),
		})
	}
	v.Table(t, mailSqueezes()...)
}

// mailSqueezes say how a table of messages fits a narrow terminal: its columns are time,
// author, where, id and text.
func mailSqueezes() []cli.Squeeze {
	return []cli.Squeeze{
		{Column: 4, Least: leastText}, {Column: 0, Least: len("01-02"), Cut: cli.ToDay}, {Column: 2, Least: 10}, {Column: 1, Least: 12}, {Column: 2},
	}
}

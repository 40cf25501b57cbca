package main

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newInboxCommand(p *program) *cobra.Command {
	var r control.InboxRequest
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "List the mail that is waiting, oldest first",
		Example: `  parley inbox
  parley inbox --as mawjs --all --json`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.Limit < 0 {
				return usageErrorf(cmd, "-n needs a number of messages, 0 for all")
			}
			if !cmd.Flags().Changed("limit") && p.forPeople() {
				r.Limit = inboxLimit
			}
			client, err := p.client()
			if err != nil {
				return err
			}
			return runInbox(cmd.Context(), r, client, p.view())
		},
	}
	asFlag(cmd, &r.As, "whose mail")
	cmd.Flags().BoolVar(&r.All, "all", false, "what was read already too")
	cmd.Flags().IntVarP(&r.Limit, "limit", "n", 0, "only the first `N` messages; 0: all (default at a terminal: 100)")
	p.jsonFlag(cmd, "print an array of messages as JSON")
	return cmd
}

// inboxLimit is how many messages inbox lists at a terminal where nothing else is
// said. A program gets all.
const inboxLimit = 100

func runInbox(ctx context.Context, r control.InboxRequest, client control.Service, v view) error {
	limit := r.Limit
	if limit > 0 {
		r.Limit++ // one more tells whether there are more
	}
	v.acting(ctx, r.As, client)
	mail, err := control.Inbox.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if limit > 0 && len(mail) > limit {
		mail = mail[:limit]
		v.err.Printf("%s\n", v.err.Dim(fmt.Sprintf("more is waiting than the first %d: -n 0 lists all", limit)))
	}
	if v.json {
		return v.writeJSON(mail)
	}
	if len(mail) == 0 {
		if v.out.Terminal {
			v.out.Printf("Nothing is waiting.\n")
		}
		v.next("parley inbox --all"+sayAs(r.As), "what was read already")
		return nil
	}
	mailTable(v, mail)
	v.next("parley read "+v.id(mail[0].Path)+sayAs(r.As), "read the first; its sender gets a receipt")
	return nil
}

// mailTable lists messages, one a line.
func mailTable(v view, mail []control.Message) {
	t := term.Table{Heading: []string{"TIME", "FROM", "CHANNEL", "ID", "TEXT"}, Flexible: 4}
	for _, m := range mail {
		t.Rows = append(t.Rows, []string{
			v.stamp(m.Timestamp, v.lineForm()), term.Line(sender(m)), channelLabel(m), v.id(m.Path), summary(m),
		})
	}
	v.table(t, mailSqueezes()...)
}

// mailSqueezes say how a table of messages fits a narrow terminal: its columns are time,
// author, where, id and text.
func mailSqueezes() []squeeze {
	return []squeeze{
		{column: 4, least: leastText}, {column: 0, least: len("01-02"), cut: toDay}, {column: 2, least: 10}, {column: 1, least: 12}, {column: 2},
	}
}

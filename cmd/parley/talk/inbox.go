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
		Long: `List the mail that is waiting, oldest first. What is said in inquiries is no
mail: "parley frame show" has it, and --all lists it.

--wait waits for mail where there is none; nothing in time: exit code 3.

--claim takes the mail that is listed: where several sessions act as one agent,
no two are given the same message. What is not read is given back when the
session ends, after --claim-for, or when the node stops. The session is the
program that runs this command, past shells such as "sh -c". Where that ends too
early or cannot be seen, as in a container, --session or PARLEY_SESSION names
the session. Its claims end with time, or by "parley presence away".`,
		Example: `  parley inbox
  parley inbox --as mawjs --all --json
  parley inbox --wait 10m --claim -n 1`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			switch waits := cmd.Flags().Changed("wait"); {
			case r.Limit < 0:
				return cli.UsageErrorf(cmd, "-n needs a number of messages, 0 for all")
			case waits && r.Within <= 0:
				return cli.UsageErrorf(cmd, "--wait needs a time above zero, such as 10m")
			case r.All && (r.Claim || waits):
				return cli.UsageErrorf(cmd, "--all goes neither with --wait nor with --claim, which are about mail that is not read")
			case !r.Claim && (cmd.Flags().Changed("claim-for") || cmd.Flags().Changed("session")):
				return cli.UsageErrorf(cmd, "--claim-for and --session go with --claim")
			case cmd.Flags().Changed("claim-for") && r.ClaimFor <= 0:
				return cli.UsageErrorf(cmd, "--claim-for needs a time above zero, such as 15m")
			}
			if r.Claim && r.Session == "" {
				r.Session = p.Getenv("PARLEY_SESSION")
			}
			if !cmd.Flags().Changed("limit") && p.ForPeople() {
				r.Limit = inboxLimit
			}
			return RunInbox(cmd.Context(), r, client, v)
		}),
	}
	cli.AsFlag(cmd, &r.As, "whose mail")
	cmd.Flags().BoolVar(&r.All, "all", false, "what was read already too")
	cli.DurationFlag(cmd.Flags(), &r.Within, "wait", "wait that long for mail where there is none")
	cmd.Flags().BoolVar(&r.Claim, "claim", false, "take it, so that no other session of the agent is given it")
	cli.DurationFlag(cmd.Flags(), &r.ClaimFor, "claim-for", "how long, at most (default: claim_for of config.yaml)")
	cmd.Flags().StringVar(&r.Session, "session", "", "the `NAME` of the session that takes it (default: the program that calls)")
	cmd.Flags().IntVarP(&r.Limit, "limit", "n", 0, "only the first `N` messages; 0: all (default at a terminal: 100)")
	return p.JSONFlag(cmd, "print an array of messages as JSON")
}

// inboxLimit is how many messages inbox lists at a terminal if no number is given. A program gets
// all.
const inboxLimit = 100

// RunInbox lists the mail that waits, as parley inbox does.
func RunInbox(ctx context.Context, r control.InboxRequest, client control.Service, v cli.View) error {
	limit := r.Limit
	if limit > 0 && !r.Claim {
		r.Limit++ // one more shows whether there are more; with a claim, it would be taken and not shown
	}
	v.Acting(ctx, r.As, client)
	done := func() {}
	if r.Within > 0 {
		done = v.Busy("waiting for mail")
	}
	mail, err := control.Inbox.Ask(ctx, client, r)
	done()
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
	if len(mail) == 0 && r.Claim { // what others have taken still waits
		v.None("Nothing is waiting that is not taken.")
		v.Next("parley inbox"+cli.SayAs(r.As), "what is taken, and by whom")
		return nil
	}
	if len(mail) == 0 {
		v.None("Nothing is waiting.")
	} else {
		mailTable(v, mail, takenBy(r))
		v.Next("parley read "+v.ID(mail[0].Path)+cli.SayAs(r.As), "read the first; its sender gets a receipt")
	}
	if r.As != "" || !v.Out.Terminal {
		return nil
	}
	if s, err := control.ShowStatus.Ask(ctx, client); err == nil && s.Speaker == s.Human && s.Gates > 0 {
		v.Next("parley gates", cli.Count(s.Gates, "gate")+" for you to decide")
	}
	return nil
}

// takenBy returns a mark for the list of a request: which session has taken a message. Messages
// that the request itself takes have no mark.
func takenBy(r control.InboxRequest) func(control.Message) string {
	return func(m control.Message) string {
		if r.Claim || m.Claimed == nil {
			return ""
		}
		return "[taken by " + term.Line(m.Claimed.By) + "] "
	}
}

func unmarked(control.Message) string { return "" }

func mailTable(v cli.View, mail []control.Message, mark func(control.Message) string) {
	t := term.Table{Heading: []string{"TIME", "FROM", "CHANNEL", "ID", "TEXT"}, Flexible: 4}
	for _, m := range mail {
		t.Rows = append(t.Rows, []string{
			v.Stamp(m.Timestamp), term.Line(Sender(m)), ChannelLabel(m), v.ID(m.Path), mark(m) + Summary(m),
		})
	}
	v.Table(t, mailSqueezes()...)
}

// mailSqueezes say how a table of messages is fitted into a narrow terminal. Its columns are time,
// author, channel, id and text.
func mailSqueezes() []cli.Squeeze {
	return []cli.Squeeze{
		{Column: 4, Least: leastText}, {Column: 0, Least: cli.DayWidth, Cut: cli.ToDay}, {Column: 2, Least: 10}, {Column: 1, Least: 12}, {Column: 2},
	}
}

package runs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewDLQCommand is parley agent dlq and its subcommands.
func NewDLQCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "dlq",
		Short: "Dead letters: what agents failed on for good",
		Long: `Dead letters: what agents failed on for good. A command that fails is tried
again after a pause, as often as the agent's setting attempts says. Then the
message is a dead letter: its sender is told, and it stays here until somebody
has it tried again or puts it away. Nothing is deleted.

Where several hosts serve an agent, one of them may have claimed a message and
be gone, or have said nothing of it for takeover_after: nobody else knows
whether its command was started. Such messages are listed as [claimed] on the
other hosts, and retry ends the claim.`,
		Example: `  parley agent dlq list
  parley agent dlq retry b2c3d4e5`,
	}, newDLQListCommand(p), newDLQShowCommand(p),
		NewRetryCommand(p),
		newDLQWordCommand(p, dlqWord{
			verb: control.DropDead, use: "drop", short: "Put a dead letter away", said: "is put away; %s does not try it again",
			long: `Put a dead letter away: it is not listed any more. It stays in the record, and
can be tried again; parley agent dlq list --all shows it.`,
		}))
}

// NewRetryCommand is parley agent dlq retry.
func NewRetryCommand(p *cli.Program) *cobra.Command {
	return newDLQWordCommand(p, dlqWord{
		verb: control.RetryDead, use: "retry", short: "Have an agent try a message again that it failed on", said: "is tried again by %s",
		long: `Have an agent try a message again that it failed on, on the host where it was
tried before. Attempts are counted on.`,
	})
}

func newDLQListCommand(p *cli.Program) *cobra.Command {
	var r control.DeadLettersRequest
	cmd := &cobra.Command{
		Use:     "list [AGENT]",
		Short:   "List the dead letters of the fleet, oldest first",
		Example: `  parley agent dlq list --json`,
		Args:    cli.Between(0, 1, "the name of an agent"),

		ValidArgsFunction: p.CompletePartners,
		RunE: cli.Asks(p, control.DeadLetters, func(args []string) control.DeadLettersRequest {
			r.Agent = strings.Join(args, "")
			return r
		}, func(v cli.View, dead []control.DeadLetter) {
			if ShowDeadLetters(v, dead); len(dead) > 0 {
				v.Next("parley agent dlq show "+v.ID(dead[0].Message.Path), "what happened")
			}
		}),
	}
	cmd.Flags().BoolVar(&r.Dropped, "all", false, "those too that were put away")
	return p.JSONFlag(cmd, "print an array of dead letters as JSON")
}

// ShowDeadLetters shows dead letters in a table.
func ShowDeadLetters(v cli.View, dead []control.DeadLetter) {
	if len(dead) == 0 {
		v.None("There are no dead letters.")
		return
	}
	t := term.Table{Heading: []string{"TIME", "AGENT", "TRIED", "ID", "FROM", "PROBLEM"}, Flexible: 5}
	for _, d := range dead {
		problem := standing.Problem(d)
		if d.Dropped != nil {
			problem = "[dropped] " + problem
		}
		if d.Claimed {
			problem = "[claimed] " + problem
		}
		t.Rows = append(t.Rows, []string{
			v.Stamp(d.Time), term.Line(standing.Owner(d)), strconv.Itoa(d.Attempts), v.ID(d.Message.Path), term.Line(d.Message.From), term.Line(problem)})
	}
	v.Table(t, cli.Squeeze{Column: 0, Least: cli.DayWidth, Cut: cli.ToDay}, cli.Squeeze{Column: 5, Least: 24}, cli.Squeeze{Column: 4, Least: 6},
		cli.Squeeze{Column: 2}, cli.Squeeze{Column: 0})
}

func newDLQShowCommand(p *cli.Program) *cobra.Command {
	r := control.DeadLettersRequest{Dropped: true}
	cmd := &cobra.Command{
		Use:     "show MESSAGE",
		Short:   "Show a dead letter: the message, and how agents failed on it",
		Example: `  parley agent dlq show b2c3d4e5`,
		Args:    cli.Exactly(1, "the id of a message"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.Message = args[0]
			return runDLQShow(cmd.Context(), r, client, v)
		}),
	}
	cmd.Flags().StringVar(&r.Agent, "agent", "", "only as far as the agent `NAME` is concerned")
	return p.JSONFlag(cmd, "print an array of dead letters as JSON, one for each agent")
}

func runDLQShow(ctx context.Context, r control.DeadLettersRequest, client control.Service, v cli.View) error {
	dead, err := control.DeadLetters.Ask(ctx, client, r)
	switch {
	case err != nil:
	case len(dead) == 0 && r.Agent != "":
		err = control.Errorf(control.KindNotFound, "parley agent dlq list", "%s is no dead letter of %s", v.Named(r.Message), r.Agent)
	case len(dead) == 0:
		err = control.Errorf(control.KindNotFound, "parley agent dlq list", "%s is no dead letter", v.Named(r.Message))
	}
	return v.Show(dead, err, func() {
		for i, d := range dead {
			if i > 0 {
				v.Out.Printf("\n")
			}
			showDead(v, d)
			retry := "parley agent dlq retry " + v.ID(d.Message.Path)
			if len(dead) > 1 {
				retry += " --agent " + term.Shell(d.Agent)
			}
			then := "have it tried again"
			if strings.Contains(d.Problem, "cannot start ") {
				then = "once the program is installed"
			}
			if d.Dropped == nil {
				v.Next(retry, then)
			}
		}
	})
}

func showDead(v cli.View, d control.DeadLetter) {
	field := func(name, value string) { v.Labelled(9, name, value) }
	field("message", d.Message.Path.String())
	field("from", d.Message.From)
	field("agent", standing.Owner(d))
	if d.Claimed {
		field("claimed", v.At(d.Time, cli.TimeForm))
	} else {
		field("tried", standing.Tried(v, d))
	}
	field("problem", d.Problem)
	if d.Ran > 0 {
		field("ran", d.Ran.String())
	}
	if w := d.Dropped; w != nil {
		field("dropped", strings.TrimSuffix(fmt.Sprintf("by %s, %s: %s", w.By, v.At(w.Time, cli.TimeForm), w.Reason), ": "))
	}
	for _, text := range []string{d.Text, d.Message.Body} {
		if text != "" {
			v.Out.Printf("\n%s\n", term.Visible(strings.TrimRight(text, "\n")))
		}
	}
}

// dlqWord is a command with which somebody decides about a dead letter.
type dlqWord struct {
	verb                   control.Verb[control.DeadLetterRequest, control.DeadLetter]
	use, short, long, said string
}

func newDLQWordCommand(p *cli.Program, w dlqWord) *cobra.Command {
	var r control.DeadLetterRequest
	all := false
	cmd := &cobra.Command{
		Use:     w.use + " MESSAGE | --all",
		Short:   w.short,
		Long:    w.long,
		Example: fmt.Sprintf("  parley agent dlq %[1]s b2c3d4e5\n  parley agent dlq %[1]s --all --agent volt", w.use),
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return cli.Exactly(0, "nothing beside --all")(cmd, args)
			}
			return cli.Exactly(1, "the id of a message, or --all")(cmd, args)
		},
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			said := func(d control.DeadLetter) {
				v.Out.Printf("%s "+w.said+"\n", v.ID(d.Message.Path), term.Line(standing.Owner(d)))
			}
			if !all {
				r.Message = args[0]
				d, err := w.verb.Ask(cmd.Context(), client, r)
				return v.Show(d, err, func() { said(d) })
			}
			return w.each(cmd.Context(), r, client, v, said)
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "all dead letters, or all of --agent; none that another host has claimed")
	cmd.Flags().StringVar(&r.Agent, "agent", "", "the agent `NAME`, where several failed on it")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "`WHY`, kept in the record")
	return p.JSONFlag(cmd, "print the dead letter, as it was, as JSON; with --all an array")
}

// each decides about all dead letters. What another host has claimed may be at work there, so a
// person decides about it by itself. One that fails does not keep the others.
func (w dlqWord) each(ctx context.Context, r control.DeadLetterRequest, client control.Service, v cli.View, said func(control.DeadLetter)) error {
	dead, err := control.DeadLetters.Ask(ctx, client, control.DeadLettersRequest{Agent: r.Agent})
	if err != nil {
		return err
	}
	aside := v
	aside.Out = v.Err
	done, claimed, failed := []control.DeadLetter{}, 0, false
	for _, d := range dead {
		if d.Claimed {
			claimed++
			continue
		}
		r.Message, r.Agent = d.Message.Path.String(), d.Agent
		if _, err := w.verb.Ask(ctx, client, r); err != nil {
			failed = true
			aside.Note(v.ID(d.Message.Path) + ": " + err.Error())
			continue
		}
		if done = append(done, d); !v.JSON {
			said(d)
		}
	}
	if claimed > 0 {
		aside.Note(fmt.Sprintf("left: %s that another host has claimed: parley agent dlq list", cli.Count(claimed, "dead letter")))
	}
	err = v.Show(done, nil, func() {
		if len(dead) == 0 {
			v.None("There are no dead letters.")
		}
	})
	if err == nil && failed {
		err = cli.ErrSaid
	}
	return err
}

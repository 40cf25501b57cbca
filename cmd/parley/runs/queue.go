//go:build never

package runs

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewQueueCommand is parley queue.
func NewQueueCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue [AGENT]",
		Short: "Show what the agents of this host have to do",
		Long: `Show what the agents of this host have to do: what runs and since when, what
waits, and what is tried again when. What an agent has answered or failed on for
good is not shown; parley dlq list has the latter.`,
		Example: `  parley queue
  parley queue mawjs --json`,
		Args: cli.Between(0, 1, "the name of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r control.QueueRequest
			if len(args) > 0 {
				r.Agent = args[0]
			}
			client, err := p.Client()
			if err != nil {
				return err
			}
			return runQueue(cmd.Context(), r, client, p.View())
		},
	}
	p.JSONFlag(cmd, "print an array of jobs as JSON")
	return cmd
}

func runQueue(ctx context.Context, r control.QueueRequest, client control.Service, v cli.View) error {
	jobs, err := control.Queue.Ask(ctx, client, r)
	switch {
	case err != nil:
		return err
	case v.JSON:
		return v.WriteJSON(jobs)
	case len(jobs) == 0:
		if v.Out.Terminal {
			v.Out.Printf("No agent of this host has anything to do.\n")
		}
		return nil
	}
	jobTable(v, jobs)
	return nil
}

func jobTable(v cli.View, jobs []control.Job) {
	t := term.Table{Heading: []string{"AGENT", "STATE", "SINCE", "ID", "FROM", "TEXT"}, Flexible: 5}
	for _, j := range jobs {
		text := j.Text
		if j.Why != "" {
			text = j.Why
		}
		t.Rows = append(t.Rows, []string{j.Agent.String(), stateOf(v, j), v.Stamp(j.Since, v.LineForm()), v.ID(j.Path), term.Line(j.From), term.Line(text)})
	}
	v.Table(t, cli.Squeeze{Column: 5, Least: 12}, cli.Squeeze{Column: 4, Least: 8}, cli.Squeeze{Column: 2, Least: len("01-02"), Cut: cli.ToDay})
}

// stateOf is the state of a job in some words.
func stateOf(v cli.View, j control.Job) string {
	switch {
	case j.State == control.JobRetry:
		return fmt.Sprintf("attempt %d of %d at %s", j.Attempt+1, j.Of, v.At(j.Next, "15:04:05"))
	case j.State == control.JobRunning && j.Attempt > 1:
		return fmt.Sprintf("running, attempt %d of %d", j.Attempt, j.Of)
	}
	return string(j.State)
}

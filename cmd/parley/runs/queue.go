package runs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// shownWaiting is how many messages that wait for an agent are shown where nothing is said.
const shownWaiting = 20

// NewQueueCommand is parley queue.
func NewQueueCommand(p *cli.Program) *cobra.Command {
	most := shownWaiting
	cmd := &cobra.Command{
		Use:   "queue [AGENT]",
		Short: "Show what the agents of this host have to do",
		Long: `Show what the agents of this host have to do: what runs and since when, then
what waits, in its order, and why: the agent is busy or paused, the host runs as
many commands as it may (slots), an attempt failed and is tried again at a time,
the disk does not take that a command starts (stalled), or something that
belongs before the message is on the way (order, receipt).
TRIED is how often its command was started and how often it may be.
What was answered or has failed for good is not shown; parley dlq list has the
latter.`,
		Example: `  parley queue
  parley queue mawjs --json`,
		Args: cli.Between(0, 1, "the name of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 0 {
				return cli.UsageErrorf(cmd, "-n needs a number that is not negative")
			}
			var r control.QueueRequest
			if len(args) > 0 {
				r.Agent = args[0]
			}
			client, err := p.Client()
			if err != nil {
				return err
			}
			return runQueue(cmd.Context(), r, most, client, p.View())
		},
	}
	cmd.Flags().IntVarP(&most, "count", "n", shownWaiting, "show `N` at most of what waits for each agent; 0: all")
	p.JSONFlag(cmd, "print an array of all jobs as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

func runQueue(ctx context.Context, r control.QueueRequest, most int, client control.Service, v cli.View) error {
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
	jobTable(v, jobs, most)
	return nil
}

func jobTable(v cli.View, jobs []control.Job, most int) {
	t := term.Table{Heading: []string{"AGENT", "PLACE", "STATE", "TRIED", "SINCE", "ID", "FROM", "TEXT"}, Flexible: 7}
	more := map[protocol.Name]int{}
	for _, j := range jobs {
		if most > 0 && j.Place > most {
			more[j.Agent]++
			continue
		}
		place, tried := "", ""
		if j.Place > 0 {
			place = strconv.Itoa(j.Place)
		}
		if j.Attempt > 0 {
			tried = fmt.Sprintf("%d of %d", j.Attempt, j.Of)
		}
		t.Rows = append(t.Rows, []string{
			j.Agent.String(), place, stateOf(v, j), tried, v.Stamp(j.Since, v.LineForm()), v.ID(j.Path), term.Line(j.From), textOf(j)})
	}
	v.Table(t, cli.Squeeze{Column: 7, Least: 12}, cli.Squeeze{Column: 6, Least: 8}, cli.Squeeze{Column: 4, Least: len("01-02"), Cut: cli.ToDay})
	for _, j := range jobs {
		if n := more[j.Agent]; n > 0 && j.Place == most+1 {
			v.Note(fmt.Sprintf("and %d more for %s: parley queue %s -n 0", n, j.Agent, j.Agent))
		}
	}
}

// stateOf is the state of a job in a word or two.
func stateOf(v cli.View, j control.Job) string {
	switch {
	case j.State == control.JobRunning:
		return "running"
	case j.Why == control.WhyRetry:
		return "retry at " + v.At(j.Next, "15:04:05")
	case j.Why == control.WhyNothing:
		return "next"
	}
	return string(j.Why)
}

// textOf is the text of a job's message, behind how the last attempt failed.
func textOf(j control.Job) string {
	if j.Problem == "" {
		return term.Line(j.Text)
	}
	return "[" + term.Line(j.Problem) + "] " + term.Line(j.Text)
}

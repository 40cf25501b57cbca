package runs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// shownWaiting is how many waiting messages of an agent are shown if no number is given.
const shownWaiting = 20

// NewQueueCommand is parley agent queue.
func NewQueueCommand(p *cli.Program) *cobra.Command {
	most := shownWaiting
	cmd := &cobra.Command{
		Use:   "queue [AGENT]",
		Short: "Show what the agents of this host have to do",
		Long: `Show what the agents of this host have to do: what runs and since when, then
what waits, in its order. TRIED is how often its command was started and how
often it may be, NEXT TRY when that is done again. STATE is one of these words,
as in parley ls, status, agent list and trace:

  running      the agent's command runs
  next         it is about to start
  busy         the agent works on as many messages as it may
  in line      this host runs as many commands as it may (max_commands)
  failing      an attempt failed, and NEXT TRY has not come
  cannot start the disk does not take the note that it starts; it is tried again
               (of an agent also: its program is not there; see agent show)
  paused       somebody has paused the agent: parley agent resume
  over budget  agents have had it run too often (max_runs,
               max_conversation_runs): how it goes on stands below
  quiet        an agent caused it, and it is quiet hours
  order        what its author's host wrote before it is on the way
  receipt      the receipt that may say what it answers is on the way
  claim        several hosts could do it, and they settle which one does
  halted       this host runs no agent for now: parley status says why

What was answered or has failed for good is not shown; parley agent dlq list has
the latter. --json has "slots" for in line, "stalled" for cannot start, "retry"
for failing and "budget" for over budget.`,
		Example: `  parley agent queue
  parley agent queue mawjs --json`,
		Args: cli.Between(0, 1, "the name of an agent"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if most < 0 {
				return cli.UsageErrorf(cmd, "-n needs a number that is not negative")
			}
			jobs, err := control.Queue.Ask(cmd.Context(), client, control.QueueRequest{Agent: strings.Join(args, "")})
			return v.Show(jobs, err, func() { ShowQueue(v, jobs, most) })
		}),
		ValidArgsFunction: p.CompleteAgents,
	}
	cmd.Flags().IntVarP(&most, "count", "n", shownWaiting, "show `N` at most of what waits for each agent; 0: all")
	return p.JSONFlag(cmd, "print an array of all jobs as JSON")
}

// ShowQueue shows jobs in a table; of those that wait for an agent at most `most`, or all if that is 0.
func ShowQueue(v cli.View, jobs []control.Job, most int) {
	if len(jobs) == 0 {
		v.None("No agent of this host has anything to do.")
		return
	}
	t := term.Table{Heading: []string{"AGENT", "PLACE", "STATE", "TRIED", "NEXT TRY", "SINCE", "ID", "FROM", "TEXT"}, Flexible: 8}
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
			j.Agent.String(), place, standing.Job(j), tried, nextOf(v, j), v.Stamp(j.Since), v.ID(j.Path), term.Line(j.From), textOf(j)})
	}
	v.Table(t, cli.Squeeze{Column: 8, Least: 10}, cli.Squeeze{Column: 5, Least: cli.DayWidth, Cut: cli.ToDay}, cli.Squeeze{Column: 7, Least: 8},
		cli.Squeeze{Column: 5}, cli.Squeeze{Column: 1}, cli.Squeeze{Column: 3})
	said := map[string]bool{"": true}
	for _, j := range jobs {
		if !said[j.Budget] {
			said[j.Budget] = true
			v.Note(term.Line(j.Budget))
		}
		if n := more[j.Agent]; n > 0 && j.Place == most+1 {
			v.Note(fmt.Sprintf("and %d more for %s: parley agent queue %s -n 0", n, j.Agent, j.Agent))
		}
	}
}

// nextOf is when a job is tried again; at a terminal, that is how soon. It is "" if that is not
// known.
func nextOf(v cli.View, j control.Job) string {
	switch {
	case j.Why != control.WhyRetry:
		return ""
	case v.Out.Terminal:
		return v.AtOrEmpty(j.Next, "15:04:05")
	}
	return v.AtOrEmpty(j.Next, time.RFC3339)
}

// textOf is the text of a job's message, after a word on how the last attempt failed.
func textOf(j control.Job) string {
	if j.Problem == "" {
		return term.Line(j.Text)
	}
	return "[" + term.Line(j.Problem) + "] " + term.Line(j.Text)
}

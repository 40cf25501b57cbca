package talk

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// NewEventsCommand is parley events.
func NewEventsCommand(p *cli.Program) *cobra.Command {
	var r control.EventsRequest
	var kinds []string
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show what happens, as it happens",
		Long: `Show what happens from now on, one line an event, until Ctrl-C:

  message  a message came
  stage    a message was heard by another host, recorded in git, pushed to the
           remote, or read or answered by somebody
  run      a command of an agent of this host started or ended, or has failed
           and is tried again
  host     another host came, or went
  session  a session of an agent program was rung, waits for its human or for
           the end of an hour with many turns, or goes on
  gate     a human is asked to decide something, or has decided
  trouble  something is wrong here, or is no longer: what status warns of
  missed   how many events came faster than this command took them

With --json the first line is an event of the kind "begun". The command tells
of whatever happens after that event.`,
		Example: `  parley events
  parley events --kind run --kind trouble --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			for _, k := range kinds {
				r.Kinds = append(r.Kinds, control.EventKind(k))
			}
			return runEvents(cmd.Context(), r, client, v)
		}),
	}
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "only events of this `KIND`; may be repeated")
	// It fails only if the command does not have the flag.
	_ = cmd.RegisterFlagCompletionFunc("kind", func(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
		for _, k := range control.EventKinds() {
			words = append(words, string(k))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	})
	return p.JSONFlag(cmd, "print events as JSON, one a line")
}

func runEvents(ctx context.Context, r control.EventsRequest, client control.Service, v cli.View) error {
	buffered := bufio.NewWriter(v.Out.Writer)
	v.Out.Writer = buffered
	var days cli.Days
	return control.Events.Ask(ctx, client, r, func(e control.Event) error {
		switch {
		case v.JSON:
			if err := v.WriteJSON(e); err != nil {
				return err
			}
		case e.Kind != control.EventBegun:
			v.Out.Printf("%s\n", eventLine(e, days.Clock(v, e.Time, eventClock, time.RFC3339), v))
		}
		return buffered.Flush()
	})
}

// eventClock is the form of times that may be less than a minute apart.
const eventClock = "15:04:05"

// eventLine is an event in one line: its time, what it is about, and what has happened.
func eventLine(e control.Event, when string, v cli.View) string {
	head := when + "  " + term.Pad(string(e.Kind), len(control.EventMessage)) + "  "
	text := term.Line(eventText(e, v))
	if v.Out.Width > 0 {
		text = term.Cut(text, max(leastText, v.Out.Width-term.Width(head)))
	}
	return v.Out.Dim(head) + text
}

func eventText(e control.Event, v cli.View) string {
	switch {
	case e.Message != nil:
		m := *e.Message
		return Sender(m) + " → " + strings.Join(m.To, ", ") + "  " + v.ID(m.Path) + "  " + Summary(m)
	case e.Stage != nil && e.Stage.By != "":
		return fmt.Sprintf("%s  %s by %s", v.ID(e.Stage.Path), e.Stage.Stage, e.Stage.By)
	case e.Stage != nil:
		return fmt.Sprintf("%s  %s", v.ID(e.Stage.Path), e.Stage.Stage)
	case e.Run != nil:
		return runText(*e.Run, v)
	case e.Host != nil:
		return e.Host.Host.String() + " " + e.Host.Change
	case e.Session != nil:
		return fmt.Sprintf("%s@%s %s", e.Session.Agent, e.Session.Host, strings.ReplaceAll(e.Session.Change, "-", " "))
	case e.Gate != nil:
		return fmt.Sprintf("gate %s: %s: %s, asked by %s (%s), decided at %s", e.Gate.Change, e.Gate.Party, e.Gate.Title, e.Gate.From, e.Gate.Outcome, e.Gate.Host)
	case e.Trouble != nil:
		return e.Trouble.Change + ": " + e.Trouble.Text
	case e.Kind == control.EventMissed:
		return fmt.Sprintf("%d events came faster than they were taken", e.Missed)
	}
	return ""
}

// retry says that an attempt of an agent has failed, and when the next one is due.
type retry struct {
	agent       protocol.Name
	attempt, of int
	problem     string // in one or two words
	next        time.Time
}

func retryOf(r control.RunChange) retry {
	return retry{r.Agent, r.Attempt, r.Of, control.FailureText(r.Failure, r.ExitCode), r.Next}
}

// text is the retry in words. At a terminal, it says how soon the next attempt is.
func (r retry) text(v cli.View, on term.Screen) string {
	form := time.RFC3339
	if on.Terminal {
		form = eventClock
	}
	return fmt.Sprintf("%s: attempt %d of %d failed (%s), next try at %s", r.agent, r.attempt, r.of, r.problem, v.At(r.next, form))
}

func runText(r control.RunChange, v cli.View) string {
	text := r.Agent.String() + " " + r.Change
	if r.Change == control.RunAgain {
		return retryOf(r).text(v, v.Out) + ", for " + v.ID(r.Path)
	}
	if !r.Path.IsZero() {
		text += " for " + v.ID(r.Path)
	}
	if r.Change == control.RunEnded {
		text += " after " + span.Text(r.Elapsed.Duration())
	}
	if r.Problem != "" {
		text += ": " + r.Problem
	}
	return text
}

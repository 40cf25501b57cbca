package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewTraceCommand is parley trace.
func NewTraceCommand(p *cli.Program) *cobra.Command {
	var r control.TraceRequest
	cmd := &cobra.Command{
		Use:   "trace PATH",
		Short: "Show every step of a message, on all hosts",
		Long: `Show every step of a message, one a line: when it was written and stored, who
heard it, when it was recorded and pushed, for which agents it was queued, each
attempt of their commands, the next one, the answer and the receipts; and below
it, indented, what agents sent because of it.

What the record says is told by this node. The rest each host knows alone: all
that are there are asked, for 2 seconds, and those that say nothing are named.
A time is that of the clock of the host in its line. When a message was stored,
heard, recorded and pushed, a node remembers of the last 8,192 messages until it
ends; attempts it keeps longer.`,
		Example: `  parley trace b2c3d4e5
  parley trace b2c3d4e5 --here --json`,
		Args: cli.Exactly(1, "the path of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.Client()
			if err != nil {
				return err
			}
			r.Path = args[0]
			return runTrace(cmd.Context(), r, client, p.View())
		},
	}
	cmd.Flags().BoolVar(&r.Here, "here", false, "only what this node knows: ask no other host")
	p.JSONFlag(cmd, "print an array of steps as JSON")
	return cmd
}

func runTrace(ctx context.Context, r control.TraceRequest, client control.Service, v cli.View) error {
	done := v.Busy("asking the hosts")
	steps, err := control.Trace.Ask(ctx, client, r)
	done()
	switch {
	case err != nil:
		return err
	case v.JSON:
		return v.WriteJSON(steps)
	}
	host := 0
	for _, s := range steps {
		host = max(host, min(term.Width(hostOf(s)), 20))
	}
	form := traceForm(v, steps)
	for _, s := range steps {
		when := v.AtOrEmpty(s.Time, form)
		head := v.Out.Dim(term.Pad(when, len(v.At(v.Now(), form)))) + "  " + term.Pad(term.Cut(hostOf(s), host), host) + "  "
		line := strings.Repeat("  ", s.Depth) + term.Line(stepText(v, s))
		if v.Out.Width > 0 {
			line = term.Cut(line, max(20, v.Out.Width-term.Width(head)))
		}
		if s.Step == control.TraceFailed || s.Failure != "" || s.Step == control.TraceNoAnswer {
			line = v.Out.Warn(line)
		}
		v.Out.Printf("%s%s\n", head, line)
	}
	traceNext(v, steps)
	return nil
}

// The forms of the times of a trace: within one day, and whole.
const (
	traceClock = "15:04:05.000"
	traceTime  = "2006-01-02 15:04:05.000 -07:00"
)

// traceForm is short for a person where all is of today.
func traceForm(v cli.View, steps []control.TraceStep) string {
	today := func(t time.Time) bool { return t.IsZero() || v.At(t, time.DateOnly) == v.At(v.Now(), time.DateOnly) }
	if v.Out.Terminal && !slices.ContainsFunc(steps, func(s control.TraceStep) bool { return !today(s.Time) }) {
		return traceClock
	}
	return traceTime
}

// hostOf is whose step it is. What leads to a message, and how much is left out, are
// nobody's.
func hostOf(s control.TraceStep) string {
	if s.Host == "" && !s.Time.IsZero() {
		return "(unsigned)"
	}
	return term.Line(s.Host.String())
}

// stepText is a step in words. One of a later version is shown as it is.
func stepText(v cli.View, s control.TraceStep) string {
	with := v.Named(s.With)
	if p, err := protocol.ParsePath(s.With); err == nil {
		with = v.ID(p)
	}
	switch s.Step {
	case control.TraceBecause:
		return "because of " + with
	case control.TraceAnswers:
		return "it answers " + with
	case control.TraceWritten, control.TraceSent:
		return fmt.Sprintf("%s %s: %s from %s to %s", v.ID(s.Path), s.Step, s.Act, s.From, strings.Join(s.To, ", "))
	case protocol.TraceCame:
		return "came by " + s.By
	case protocol.TraceHeard:
		return "heard by " + s.By
	case protocol.TraceQueued:
		return "queued for " + s.Agent
	case protocol.TraceWaits:
		return strings.TrimSuffix(fmt.Sprintf("waits for %s: %s", s.Agent, waitsFor(v, s)), ": ")
	case protocol.TraceAtWork:
		return s.Agent + " is at it"
	case protocol.TraceStopped:
		return s.Agent + " is not run: agents have answered each other too often"
	case protocol.TraceStarted:
		return attempt(s) + " started" + inTier(s)
	case protocol.TraceEnded:
		return attempt(s) + " ended after " + s.Ran.Duration().Round(time.Millisecond).String() + ": " + outcome(s)
	case protocol.TraceAgain:
		return s.Agent + " is tried again at " + v.At(s.Next, traceClock)
	case control.TraceRead:
		return fmt.Sprintf("read by %s (receipt %s)", s.Agent, with)
	case control.TraceAnswered:
		return fmt.Sprintf("answered by %s: %s", s.Agent, with)
	case control.TraceFailed:
		return fmt.Sprintf("given up, its sender told (%s): %s", with, s.Text)
	case control.TraceRetried, control.TraceDropped:
		word := "put away"
		if s.Step == control.TraceRetried {
			word = "to be tried again"
		}
		return strings.TrimSuffix(fmt.Sprintf("%s for %s, says %s (%s): %s", word, s.Agent, s.By, with, s.Text), ": ")
	case control.TraceMore:
		return "and " + s.Text + " more were sent because of it"
	case control.TraceNotAsked:
		return "not asked: " + s.By
	case control.TraceNoAnswer:
		return "no answer: " + s.Text
	}
	return strings.Join(slices.DeleteFunc([]string{s.Step, s.Agent, s.By, s.Text}, func(word string) bool { return word == "" }), " ")
}

// waitsFor is what a message waits for, as a host says it.
func waitsFor(v cli.View, s control.TraceStep) string {
	switch why := control.JobWhy(s.By); why {
	case control.WhyNothing:
		return "about to start"
	case control.WhyBusy:
		return "it works on others"
	case control.WhySlots:
		return "its host runs as many commands as it may"
	case control.WhyPaused:
		return "it is paused"
	case control.WhyStalled:
		return "the disk does not take that it starts"
	case control.WhyRetry:
		return "an attempt failed, the next one is due at " + v.At(s.Next, traceClock)
	case control.WhyOrder:
		return "what was written before it is on the way"
	case control.WhyReceipt:
		return "the receipt that may say what it answers is on the way"
	case control.WhyBudget:
		return "agents have had it run as often as they may"
	case control.WhyQuiet:
		return "it is quiet hours for it"
	case control.WhyClaim:
		return "hosts settle which of them does it"
	case control.WhyHalted:
		return "its host runs no agent for now"
	}
	return s.By // of a later version
}

func attempt(s control.TraceStep) string {
	text := fmt.Sprintf("%s: attempt %d", s.Agent, s.Attempt)
	if s.Retry > 0 {
		text += fmt.Sprintf(" of retry %d", s.Retry)
	}
	return text
}

func inTier(s control.TraceStep) string {
	if s.Tier == "" {
		return ""
	}
	return ", tier " + s.Tier
}

// outcome is how an attempt ended.
func outcome(s control.TraceStep) string {
	if s.Failure == "" {
		return cli.Count(s.Bytes, "byte") + " printed"
	}
	text := s.Failure
	if s.Exit > 0 { // -1: it did not come to one
		text += fmt.Sprintf(" %d", s.Exit)
	}
	return text
}

// traceNext names what helps with the last thing that went wrong.
func traceNext(v cli.View, steps []control.TraceStep) {
	if len(steps) == 0 {
		return
	}
	id := ""
	for _, s := range steps {
		if s.Depth == 0 {
			id = v.ID(s.Path)
		}
	}
	has := func(step string) bool {
		return slices.ContainsFunc(steps, func(s control.TraceStep) bool { return s.Depth == 0 && s.Step == step })
	}
	dead := slices.ContainsFunc(steps, func(s control.TraceStep) bool { // what was canceled is no dead letter
		return s.Depth == 0 && s.Step == control.TraceFailed && s.Attempt > 0
	})
	switch {
	case has(control.TraceAnswered):
	case dead:
		v.Next("parley dlq show "+id, "what the agent failed on")
	case has(protocol.TraceStarted):
		v.Next("parley prompt "+id, "what the agent was given")
	}
}

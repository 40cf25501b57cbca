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
	most := shownSent
	cmd := &cobra.Command{
		Use:   "trace PATH",
		Short: "Show every step of a message, on all hosts",
		Long: `Show every step of a message, one a line and in the order of time: when it was
written and stored, who heard it, when it was recorded and pushed, for which
agents it was queued, each attempt of their commands, the next one, the answer
and the receipts. Below that stands, as a tree, what agents sent because of it,
each message in one line with what has become of it. Where there is more than is
shown, parley trace of the message above it goes on.

What the record says is told by this node. The rest each host knows alone: all
that are there are asked, for 2 seconds, and those that say nothing are named.
A time is that of the clock of the host in its line. When a message was stored,
heard, recorded and pushed, a node remembers of the last 8,192 messages until it
ends; attempts it keeps longer. With --json the steps of all messages are told,
of 64 at most; a last step "more" counts the others.`,
		Example: `  parley trace b2c3d4e5
  parley trace b2c3d4e5 --here --json`,
		Args: cli.Exactly(1, "the id or path of a message"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if most < 0 {
				return cli.UsageErrorf(cmd, "-n needs a number that is not negative")
			}
			r.Path = args[0]
			return runTrace(cmd.Context(), r, most, client, v)
		}),
	}
	cmd.Flags().BoolVar(&r.Here, "here", false, "only what this node knows: ask no other host")
	cmd.Flags().IntVarP(&most, "count", "n", shownSent, "show `N` at most of the messages that were sent because of it; 0: all")
	return p.JSONFlag(cmd, "print an array of steps as JSON")
}

func runTrace(ctx context.Context, r control.TraceRequest, most int, client control.Service, v cli.View) error {
	done := v.Busy("asking the hosts")
	steps, err := control.Trace.Ask(ctx, client, r)
	done()
	return v.Show(steps, err, func() {
		showTrace(v, steps, most)
		traceNext(v, steps)
	})
}

func showTrace(v cli.View, steps []control.TraceStep, most int) {
	lines := traceLines{v: v}
	for _, s := range steps {
		lines.host = max(lines.host, min(term.Width(hostOf(s)), 20))
	}
	tree := treeOf(steps)
	for _, s := range tree.steps {
		lines.show(s, StepText(v, s), s.Step == control.TraceFailed || s.Failure != "" || s.Step == control.TraceNoAnswer)
	}
	tree.showSent(&lines, most)
}

// The forms of the times of a trace: for a terminal, and for programs.
const (
	traceClock = "15:04:05.000"
	traceTime  = "2006-01-02T15:04:05.000Z07:00"
)

type traceLines struct {
	v    cli.View
	host int // width of the column of hosts
	days cli.Days
}

// show shows a line: when and where a step happened, and what is said of it.
func (l *traceLines) show(s control.TraceStep, text string, warns bool) {
	v := l.v
	left := l.columns()
	head := v.Out.Dim(term.Pad(l.days.Clock(v, s.Time, traceClock, traceTime), left-l.host-4)) + "  " + term.Pad(term.Cut(hostOf(s), l.host), l.host) + "  "
	indent := strings.Repeat("  ", s.Depth)
	for i, line := range l.fit(term.Line(text), v.Out.Width-left-len(indent)) {
		if i > 0 {
			head, line = strings.Repeat(" ", left), "  "+line
		}
		if warns {
			line = v.Out.Warn(line)
		}
		v.Out.Printf("%s%s%s\n", head, indent, line)
	}
}

// columns returns the width of the columns of time and host.
func (l *traceLines) columns() int {
	form := traceTime
	if l.v.Out.Terminal {
		form = traceClock
	}
	return len(l.v.At(l.v.Now(), form)) + l.host + 4
}

const mostLines = 3

// fit breaks a text into lines for a terminal. If it needs several lines, all of them are two
// columns narrower.
func (l *traceLines) fit(text string, width int) []string {
	if l.v.Out.Width < 1 {
		return []string{text}
	}
	width = max(20, width)
	if term.Width(text) <= width {
		return []string{text}
	}
	lines := cli.WrapWords(text, width-2)
	lines = append(lines[:min(len(lines), mostLines-1)], strings.Join(lines[min(len(lines), mostLines-1):], " "))
	for i := range lines {
		lines[i] = term.Cut(lines[i], width-2)
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// showCommand shows a line that has no time and ends in a command. The command is not cut: if there
// is not enough room below the other lines, the line begins further to the left.
func (l *traceLines) showCommand(depth int, text string) {
	left := l.columns()
	left += 2 * depth
	if width := l.v.Out.Width; width > 0 {
		left = max(2, min(left, width-term.Width(text)))
	}
	l.v.Out.Printf("%s%s\n", strings.Repeat(" ", left), term.Line(text))
}

// hostOf is the host of a step. Lines that say what led to a message, and how much is left out,
// have no host.
func hostOf(s control.TraceStep) string {
	if s.Host == "" && !s.Time.IsZero() {
		return "(unsigned)"
	}
	return term.Line(s.Host.String())
}

// StepText says what a step of a message is.
func StepText(v cli.View, s control.TraceStep) string {
	with := v.Named(s.With)
	if p, err := protocol.ParsePath(s.With); err == nil {
		with = v.ID(p)
	}
	switch s.Step {
	case control.TraceBecause:
		return "because of " + with
	case control.TraceAnswers:
		return "it answers " + with
	case control.TraceWritten:
		return fmt.Sprintf("%s %s: %s from %s to %s", v.ID(s.Path), s.Step, s.Act, s.From, strings.Join(s.To, ", "))
	case protocol.TraceCame:
		return "came by " + s.By
	case protocol.TraceHeard:
		return "heard by " + s.By
	case protocol.TraceQueued:
		return "queued for " + s.Agent
	case protocol.TraceWoken:
		return s.Agent + " is woken: its program took the bell"
	case protocol.TraceWaits:
		if s.By == protocol.WaitsForHuman || s.By == protocol.WaitsForTurns || s.By == protocol.WaitsForTurn {
			text, why := v.Waits(protocol.Waits{For: s.By, Time: s.Next})
			return strings.TrimSuffix(s.Agent+" "+text+": "+why, ": ")
		}
		return strings.TrimSuffix(fmt.Sprintf("waits for %s: %s", s.Agent, waitsFor(v, s)), ": ")
	case protocol.TraceAtWork:
		return s.Agent + " is at it"
	case protocol.TraceHinders:
		return hindersText(s)
	case protocol.TraceStopped:
		return s.Agent + " is not run: agents have answered each other too often"
	case protocol.TraceStarted:
		return attempt(s) + " started" + inTier(s)
	case protocol.TraceEnded:
		return attempt(s) + " ended after " + s.Ran.Duration().Round(time.Millisecond).String() + ": " + outcome(s)
	case protocol.TraceAgain:
		return s.Agent + " is tried again at " + nextTry(v, s.Next)
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
	case control.TraceNotAsked:
		return "not asked: " + s.By
	case control.TraceNoAnswer:
		return "no answer: " + s.Text
	}
	return strings.Join(slices.DeleteFunc([]string{s.Step, s.Agent, s.By, s.Text}, func(word string) bool { return word == "" }), " ")
}

// waitsFor says what a message waits for, as a host tells it: the word that lists use, and what it
// means.
func waitsFor(v cli.View, s control.TraceStep) string {
	why := control.JobWhy(s.By)
	switch text := cli.WaitsFor(why); {
	case why == control.WhyNothing:
		return text
	case text == "": // a word of a later version
		return s.By
	case why == control.WhyRetry:
		return fmt.Sprintf("%s (%s, the next one is due at %s)", cli.Waiting(why), text, nextTry(v, s.Next))
	default:
		return cli.Waiting(why) + " (" + text + ")"
	}
}

// nextTry is when something is tried again; at a terminal, how soon that is.
func nextTry(v cli.View, at time.Time) string {
	if v.Out.Terminal {
		return v.At(at, traceClock)
	}
	return v.At(at, traceTime)
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

func outcome(s control.TraceStep) string {
	if s.Failure == "" {
		return cli.Count(s.Bytes, "byte") + " printed"
	}
	return control.FailureText(s.Failure, s.Exit)
}

// traceNext names a command that helps with the last thing that went wrong.
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
	dead := slices.ContainsFunc(steps, func(s control.TraceStep) bool { // a canceled run is no dead letter
		return s.Depth == 0 && s.Step == control.TraceFailed && s.Attempt > 0
	})
	switch {
	case has(control.TraceAnswered):
	case !dead && !has(protocol.TraceStarted):
		v.Next("parley why "+id, "what is in the way, and what helps")
	case dead:
		v.Next("parley agent dlq show "+id, "what the agent failed on")
	case has(protocol.TraceStarted):
		v.Next("parley prompt "+id, "what the agent was given")
	}
}

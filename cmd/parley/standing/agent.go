package standing

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
)

// Hindered says in a few words why an agent's messages wait longer than for their turn, and how
// many dead letters it has. It returns "" if there is nothing to say.
func Hindered(w control.AgentWork) string {
	var words []string
	if w.Paused {
		words = append(words, cli.Waiting(control.WhyPaused))
	}
	if w.Missing != "" || w.Stalled != "" { // its program is not there, or the disk does not take the note that it is started
		words = append(words, cli.Waiting(control.WhyStalled))
	}
	if w.Over > 0 { // agents have caused too many runs
		words = append(words, cli.Waiting(control.WhyBudget))
	}
	if w.Held { // the host already runs as many commands as it may
		words = append(words, cli.Waiting(control.WhySlots))
	}
	if w.Failing > 0 {
		words = append(words, cli.Waiting(control.WhyRetry))
	}
	if w.Dead > 0 {
		words = append(words, cli.Count(w.Dead, "dead letter"))
	}
	return strings.Join(words, ", ")
}

// Hindrance is red if an agent does not work, and yellow if it is held up.
func Hindrance(w control.AgentWork) causes.Level {
	switch {
	case w.Missing != "" || w.Stalled != "" || w.Failing > 0 || w.Dead > 0:
		return causes.Red
	case w.Paused || w.Over > 0:
		return causes.Yellow
	}
	return causes.Green
}

// Job is the state of a job in one or two words.
func Job(j control.Job) string {
	if j.State == control.JobRunning {
		return string(j.State)
	}
	return term.Line(cli.Waiting(j.Why))
}

// Session is what a session is at, and since when.
func Session(v cli.View, s control.Session) string {
	if s.Since.IsZero() {
		return string(s.State)
	}
	return fmt.Sprintf("%s since %s", s.State, v.Stamp(s.Since))
}

// Hears says how a session hears its mail.
func Hears(v cli.View, s control.Session) string {
	switch {
	case s.State == control.AgentAway:
		return "when it is opened"
	case !s.Muted.IsZero():
		return "muted until " + v.Stamp(s.Muted)
	case !s.Woken.IsZero() && len(s.Ways) > 0:
		return "woken " + v.Stamp(s.Woken) + ", and not read"
	case len(s.Ways) == 0:
		return "at its next turn"
	}
	return "at once, by " + string(s.Ways[0])
}

// Owner is the agent of a dead letter, with its host.
func Owner(d control.DeadLetter) string {
	if d.Host == "" {
		return d.Agent
	}
	return d.Agent + "@" + d.Host.String()
}

// Tried says how often an agent tried, and when it gave up.
func Tried(v cli.View, d control.DeadLetter) string {
	text := fmt.Sprintf("%s, given up %s", cli.Count(d.Attempts, "time"), v.At(d.Time, cli.TimeForm))
	if d.Retries > 0 {
		text += "; somebody had it tried again " + cli.Count(d.Retries, "time")
	}
	return text
}

// Problem is how an agent failed, without its name.
func Problem(d control.DeadLetter) string { return strings.TrimPrefix(d.Problem, d.Agent+": ") }

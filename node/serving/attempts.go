package serving

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// retryPause is how long a message waits after the first failed attempt. Each further pause is
	// retryGrowth times as long, up to maxRetryPause.
	retryPause    = 2 * time.Second
	retryGrowth   = 4
	maxRetryPause = 10 * time.Minute
	// Exit codes from usageErrors to lastUsageError say that trying again is of no use
	// (sysexits.h).
	usageErrors    = 64
	lastUsageError = 78
)

// pause is how long a message waits after the first failed attempt.
func (w *worker) pause() time.Duration { return cmp.Or(w.RetryPause, retryPause) }

// attempts is how often the agent's command may be started for a message.
func (j job) attempts() int { return cmp.Or(j.agent.Attempts, configs.DefaultAttempts) }

// job is the agent's work on a message in the form in which the log of runs knows it. It is asked
// while the state is read.
func (w *worker) job(s *fleet.State, p protocol.Path) runlog.Job {
	return runlog.Job{Path: p, Agent: w.queue.agent.Name, Again: s.Run(p, w.queue.who.Name).Retries}
}

// begin notes that an attempt is about to start, and returns its number. An attempt that cannot be
// counted could be repeated for ever. So without the note nothing is started, and the agent's
// messages wait until the note succeeds.
func (w *worker) begin(j job, run runlog.Job) (attempt int, err error) {
	attempt, err = w.runs.Start(run, j.tier.Name, j.caused)
	w.Folded(func(*fleet.State) {
		if err != nil {
			w.queue.stall(j, err)
			return
		}
		w.queue.stalledNoMore()
		if j.caused {
			w.queue.budgets.noted(w.queue.who, j.it)
			w.queue.nudge()
		}
	})
	return attempt, err
}

// note notes what became of a run. Without this note the attempt counts as cut short.
func (w *worker) note(run runlog.Job, e runlog.Entry) {
	if err := w.runs.Note(run, e); err != nil {
		w.Log.Warn().Err(err).Str("agent", w.queue.who.Name).Stringer("path", run.Path).Msg("what became of a run is not noted")
	}
	if e.Step == runlog.Again {
		w.steps.retried(run.Agent, run.Path, e.Attempt, e.Next)
	}
}

// mayHaveRun is the host from which the message was taken over, if the agent's run there may have
// been cut short, that host says that such a run must not be repeated (R19), and nobody has had the
// message tried again. Otherwise it is "".
func (w *worker) mayHaveRun(j job) (host protocol.Name) {
	w.Folded(func(s *fleet.State) {
		run := s.Run(j.it.Path, w.queue.who.Name)
		if run.Claim == nil || run.Claim.From == w.queue.who.Host || run.Again != nil {
			return
		}
		if h, joined := s.Keys().Host(run.Claim.From); joined {
			if a, _ := h.Serves(w.queue.who.Name); a.AsksRerun {
				host = run.Claim.From
			}
		}
	})
	return host
}

// later makes a message wait until that time. Other messages go on.
func (w *worker) later(j job, until time.Time) {
	w.Folded(func(*fleet.State) { w.queue.later(j, until.Sub(w.Now())) })
}

// giveUp tells the sender that there will be no answer: the message is a dead letter.
func (w *worker) giveUp(ctx context.Context, j job, run runlog.Job, f protocol.Failure) {
	w.steps.gaveUp(run.Agent, run.Path, f.Attempts)
	f.Problem = w.queue.who.Name + ": " + f.Problem
	if w.keep(ctx, j, fleet.Answer{As: w.queue.who, To: j.it.Path, Body: protocol.Failed.Format(f), Act: protocol.ActFailed, ByAgent: true}) {
		w.note(run, runlog.Entry{Step: runlog.Done})
	}
}

// wasCut reports whether the end of the node cut the last attempt short (R19): its command did not
// end by itself, or its answer was not kept.
func wasCut(s runlog.Standing) bool {
	return s.Running || s.Attempts > 0 && (s.Last.Failure == "" || s.Last.Failure == door.Canceled.String())
}

// cutShort says why a message is given up whose last attempt did not come to an end here.
func cutShort(s runlog.Standing) protocol.Failure {
	f := protocol.Failure{Attempts: s.Attempts, Tier: s.Tier}
	switch {
	case !wasCut(s):
		f.Problem, f.Ran = fmt.Sprintf("its command failed (%s), and the node ended before it was told how", s.Last.Failure), s.Last.Ran.Round(time.Millisecond)
	case s.Running || s.Last.Failure != "":
		f.Problem = "cut short: the node ended while its command ran"
	default:
		f.Problem, f.Ran = "cut short: the node ended before the answer of its command was kept", s.Last.Ran.Round(time.Millisecond)
	}
	return f
}

// mayHelp reports whether trying again can help. It cannot if the program is missing, if it is used
// wrongly, or if it has exceeded a limit. And while something of the attempt may still run, no
// other attempt is made.
func mayHelp(r door.Result) bool {
	if r.Left {
		return false
	}
	switch r.Failure {
	case door.ExitStatus:
		return r.ExitCode < usageErrors || r.ExitCode > lastUsageError
	case door.NotStarted, door.Limited:
		return false
	}
	return true
}

// pauseAfter is how long a message waits after that attempt, up to a quarter more or less. So
// messages that failed together are not tried again together.
func pauseAfter(first time.Duration, attempt int) time.Duration {
	pause := first
	for range attempt - 1 {
		pause = min(retryGrowth*pause, maxRetryPause)
	}
	return pause*3/4 + rand.N(pause/2+1)
}

// shownErrors is how many lines of a command's standard error the sender gets.
const shownErrors = 10

// printed is what a failed command had printed, for the sender: the answer so far, and its last
// errors if they are more than the line that the problem quotes.
func printed(agent, host protocol.Name, r door.Result) string {
	var parts []string
	if out := strings.TrimSpace(r.Output); out != "" {
		parts = append(parts, "It had printed:\n"+out)
	}
	lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
	if lines = lines[max(0, len(lines)-shownErrors):]; lines[0] != "" && (len(lines) > 1 || r.Failure == door.TimedOut || r.Failure == door.Limited) {
		parts = append(parts, "Its last errors:\n"+strings.Join(lines, "\n"))
	}
	if r.Left {
		parts = append(parts, "Its keeper was ended: what it has started may still run, so it was not tried again.")
	}
	if note := masked(r.Secrets, agent, host); note != "" {
		parts = append(parts, note+".")
	}
	return strings.Join(parts, "\n\n")
}

// failureWord is why a run failed, "" if it did not.
func failureWord(r door.Result) string {
	if r.Failure == door.None {
		return ""
	}
	return fmt.Sprint(r.Failure)
}

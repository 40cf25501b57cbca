package serving

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// atWork is a message that is being handled. All fields except done are read and changed while the
// state is read.
type atWork struct {
	j        job
	attempt  int                // 0: none has been started yet
	since    time.Time          // when that attempt was started
	stop     context.CancelFunc // ends the attempt; nil while there is none
	canceled *cancellation      // nil: nobody has canceled it
	closed   bool               // nobody can cancel it any more: the attempt has ended
	done     chan struct{}      // closed when it is handled
}

// isRun reports whether the agent's command is run for a message.
func (t *task) isRun() bool { return t.work != nil && t.work.j.handling == fleet.Run }

// cancellation says that somebody wants no more work on a message.
type cancellation struct {
	by, reason string
	kept       bool // the sender is told; false if there was an answer by then
}

// text is what the sender is told.
func (c *cancellation) text(agent string, attempts int) string {
	text := fmt.Sprintf("FAILED | %s: canceled by %s", agent, c.by)
	if reason := strings.Join(strings.Fields(c.reason), " "); reason != "" {
		text += ": " + reason
	}
	if attempts > 0 {
		text += fmt.Sprintf("\n\nIts command had been started %s.", times(attempts))
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// begun notes that an attempt is about to run, and makes the context that ends with it. `ok` is
// false if somebody has canceled the job.
func (w *worker) begun(ctx context.Context, j job, attempt int) (run context.Context, stop context.CancelFunc, ok bool) {
	run, stop = context.WithCancel(ctx)
	w.Folded(func(*fleet.State) {
		if at := w.queue.tasks[j.it.Path].work; at.canceled == nil {
			at.attempt, at.since, at.stop, ok = attempt, w.Now(), stop, true
		}
	})
	return run, stop, ok
}

// over notes that the attempt has ended. It returns the cancellation of the job, or nil if nobody
// has canceled it. From then on nobody can.
func (w *worker) over(j job) (c *cancellation) {
	w.Folded(func(*fleet.State) {
		at := w.queue.tasks[j.it.Path].work
		c, at.stop, at.closed = at.canceled, nil, true
	})
	return c
}

func (w *worker) tellCanceled(ctx context.Context, j job, run runlog.Job, c *cancellation, attempts int) {
	over := w.keep(ctx, j, w.canceledAnswer(j.it.Path, c, attempts))
	w.Folded(func(*fleet.State) { c.kept = over })
	if !over {
		return
	}
	w.note(run, runlog.Entry{Step: runlog.Done})
	w.steps.canceled(j.agent.Name, j.it.Path, c.by)
}

func (w *worker) canceledAnswer(of protocol.Path, c *cancellation, attempts int) fleet.Answer {
	return fleet.Answer{As: w.queue.who, To: of, Body: c.text(w.queue.who.Name, attempts), Act: protocol.ActFailed, ByAgent: true}
}

// jobs returns the jobs of an agent: first what runs, the longest first, then what waits, in its
// order. If `of` is zero, it returns the jobs on all messages. It is asked while the state is read.
func (w *worker) jobs(s *fleet.State, of protocol.Path) []control.Job {
	q := w.queue
	all := []control.Job{}
	for p, t := range q.tasks {
		if t.isRun() && (of.IsZero() || p == of) {
			all = append(all, w.running(t.work))
		}
	}
	slices.SortFunc(all, func(a, b control.Job) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return a.Path.Compare(b.Path)
	})
	halted, awaited := w.Halted(), q.awaited(s)
	place := 0
	waiting := q.in(inLine, aside, soon, overHour, overTalk)
	slices.SortFunc(waiting, byPlace)
	for _, t := range waiting {
		if s.Talk.Handle(t.it, q.who, q.limits()) != fleet.Run {
			continue // in a moment, it gets a receipt, or the conversation is stopped
		}
		place++
		if !of.IsZero() && t.it.Path != of {
			continue
		}
		job := w.waiting(s, t, halted, awaited)
		job.Place = place
		all = append(all, job)
	}
	return all
}

// jobOn returns the job of an agent on one message, without its place. It does not go through the
// other messages that wait, because other hosts may ask for it often. It is asked while the state
// is read.
func (w *worker) jobOn(s *fleet.State, p protocol.Path) (job control.Job, ok bool) {
	q := w.queue
	_, there := s.Ledger.Item(p)
	switch t := q.tasks[p]; {
	case !there || t == nil:
		return job, false
	case t.work != nil:
		return w.running(t.work), t.isRun()
	case s.Talk.Handle(t.it, q.who, q.limits()) != fleet.Run:
		return job, false
	}
	return w.waiting(s, q.tasks[p], w.Halted(), q.awaited(s)), true
}

func (w *worker) running(at *atWork) control.Job {
	it := at.j.it
	job := control.Job{
		Agent: w.queue.agent.Name, Path: it.Path, From: it.From, State: control.JobRunning, Tier: at.j.tier.Name,
		Since: at.since.UTC(), Attempt: at.attempt, Of: at.j.attempts(),
	}
	if at.attempt == 0 {
		job.Since = it.Timestamp
	}
	return job
}

// waiting is the job on a message that waits. All mail of the agent waits if it is
// halted.
func (w *worker) waiting(s *fleet.State, t *task, halted bool, awaited map[protocol.Name]protocol.Path) control.Job {
	q, it := w.queue, t.it
	standing := w.runs.Standing(w.job(s, it.Path))
	problem := lastFailure(standing)
	if t.unread > 0 {
		problem = cannotRead
	}
	job := control.Job{
		Agent: q.agent.Name, Path: it.Path, From: it.From, State: control.JobWaiting, Tier: q.tierFor(s, it).Name, Since: it.Timestamp,
		Attempt: standing.Attempts, Of: job{agent: q.agent}.attempts(), Problem: problem, Budget: t.spent,
	}
	if job.Why = q.why(s, t, awaited); halted {
		job.Why = control.WhyHalted
	}
	if job.Why == control.WhyNothing && w.slots.Waits(w.claimant) {
		job.Why = control.WhySlots
	}
	if job.Why == control.WhyRetry {
		job.Next = t.until[forRetry].UTC()
	}
	return job
}

// lastFailure is how the last attempt failed, in a word or two.
func lastFailure(s runlog.Standing) string {
	switch {
	case s.Attempts == 0:
		return ""
	case wasCut(s):
		return "cut short"
	}
	return control.FailureText(s.Last.Failure, s.Last.Exit)
}

// why is what a message in the queue waits for. It decides that as next does.
func (q *queue) why(s *fleet.State, t *task, awaited map[protocol.Name]protocol.Path) control.JobWhy {
	it := t.it
	first, waits := awaited[it.Host]
	tier := q.tierFor(s, it)
	switch {
	case q.paused:
		return control.WhyPaused
	case q.stalled.tries > 0:
		return control.WhyStalled
	case q.isDelayed(t, forRetry):
		return control.WhyRetry
	case waits && it.Path.Compare(first) >= 0:
		return control.WhyOrder
	case q.isQuiet() && q.restsFor(s, it):
		return control.WhyQuiet
	case q.isBusy(s, it):
		return control.WhyParty
	case t.spent != "":
		return control.WhyBudget
	case q.isDelayed(t, forReceipt) && s.Talk.AwaitsReceipt(it, q.who):
		return control.WhyReceipt
	case q.claims.settling(s, it, q.agent):
		return control.WhyClaim
	case q.running[tier.Name] >= tier.Count:
		return control.WhyBusy
	}
	return control.WhyNothing
}

// takeOut takes a message that waits for a run out of the queue, because it is canceled. The
// message counts as at work until gone or putBack is called. takeOut returns nil if no such message
// waits.
func (q *queue) takeOut(s *fleet.State, p protocol.Path, c *cancellation) *fleet.Item {
	t := q.tasks[p]
	if t == nil || t.work != nil || s.Talk.Handle(t.it, q.who, q.limits()) != fleet.Run {
		return nil
	}
	for _, l := range q.lines {
		l.Remove(func(in *task) bool { return in == t })
	}
	q.set(t, taken)
	t.spent, t.work = "", &atWork{j: job{it: t.it, agent: q.agent, tier: q.tierFor(s, t.it)}, canceled: c, done: make(chan struct{})}
	return t.it
}

// gone ends takeOut: nothing is left to be done for the message.
func (q *queue) gone(p protocol.Path) {
	t := q.tasks[p]
	close(t.work.done)
	q.drop(t)
	q.hourOver()
	q.look()
}

// putBack ends takeOut: the message waits as before.
func (q *queue) putBack(p protocol.Path) {
	t := q.tasks[p]
	close(t.work.done)
	t.work = nil
	q.set(t, aside) // until it is looked at
	q.nudge()
}

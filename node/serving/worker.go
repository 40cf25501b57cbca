package serving

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// worker is the exec door of one agent. It runs the agent's command for each message of its queue,
// as many at a time as the agent's tiers allow. Agents never wait for each other. Its goroutines
// run from start until the context `taking` ends.
type worker struct {
	*tools
	queue    *queue
	claimant *agents.Claimant // the agent as slots know it
	work     sync.WaitGroup
	end      context.CancelFunc
}

// start takes messages until `taking` ends. Commands that run then may go on until `killing` ends.
func (w *worker) start(taking, killing context.Context) {
	taking, w.end = context.WithCancel(taking)
	w.work.Go(func() {
		defer w.slots.End(w.claimant)
		for {
			select {
			case <-w.queue.wake:
			case <-taking.Done():
				return
			}
			for taking.Err() == nil {
				j, ok := w.take()
				if !ok {
					break
				}
				w.work.Go(func() {
					if j.tell != nil {
						w.tell(killing, j)
						return
					}
					w.handle(killing, j)
					w.release(j)
				})
			}
		}
	})
}

// take removes the queued message that is to be handled now: its author has the turn, and its tier
// has a free worker. If the agent's command is to be run, the host has a free slot as well. While
// another node of this host may do the same work, its mail waits.
func (w *worker) take() (j job, ok bool) {
	w.Folded(func(s *fleet.State) {
		if !w.Halted() {
			j, ok = w.queue.next(s)
		}
		switch {
		case !ok:
			w.slots.Leave(w.claimant)
		case j.tell != nil:
		case j.handling == fleet.Run && !w.slots.Claim(w.claimant):
			ok = false
		default:
			w.queue.begin(j)
		}
	})
	return j, ok
}

func (w *worker) release(j job) {
	if j.handling == fleet.Run {
		w.slots.Release(w.claimant)
	}
	w.Folded(func(s *fleet.State) { w.queue.end(s, j) })
}

// handle does with one message what the rules say. If the node stops before the result is stored,
// nothing was done, and the next start does it.
func (w *worker) handle(ctx context.Context, j job) {
	it := j.it
	switch j.handling {
	case fleet.Receipt:
		w.keep(ctx, j, fleet.GiveReceipt{As: w.queue.who, Of: it.Path})
	case fleet.Halt:
		w.steps.halted(j.agent.Name, it.Path)
		hops := 0 // answers of agents in a row that led to the message
		w.Folded(func(s *fleet.State) { hops = s.Talk.Hops(it) })
		why := fmt.Sprintf("%d answers of agents in a row (max_hops is %d); %s was not run", hops, w.Config.MaxHops, w.queue.who.Name)
		goOn := "parley reply " + visible.Shell(it.Path.String()) + " TEXT"
		w.Notices.Latest("stopped before "+w.queue.who.Name, "a conversation was stopped: %s; to go on: %s", why, goOn)
		w.keep(ctx, j, fleet.Stop{As: w.queue.who, At: it.Path, Human: w.Human, Body: fmt.Sprintf(
			"FAILED | the conversation was stopped: %s.\nA human can go on with: %s", why, goOn)})
	case fleet.Run:
		w.run(ctx, j)
	}
}

// run asks the agent and stores its answer, or why there is none (R16).
func (w *worker) run(ctx context.Context, j job) {
	it := j.it
	var asked *protocol.Message
	err := w.Runner.outlast(ctx, func() (err error) {
		asked, err = w.Load(it)
		return err
	})
	if err != nil {
		w.unreadable(ctx, j, err)
		return
	}
	var run runlog.Job
	w.Folded(func(s *fleet.State) {
		w.queue.readable(w.queue.tasks[it.Path])
		run = w.job(s, it.Path)
	})
	standing := w.runs.Standing(run)
	switch {
	case w.Now().Before(standing.Next): // the node was started anew in between
		if c := w.over(j); c != nil {
			w.tellCanceled(ctx, j, run, c, standing.Attempts)
			return
		}
		w.later(j, standing.Next)
		return
	case w.mayHaveRun(j) != "":
		w.giveUp(ctx, j, run, protocol.Failure{Problem: fmt.Sprintf("cut short: %s is gone, and nobody else knows whether its command was started", w.mayHaveRun(j))})
		return
	case standing.Attempts >= j.attempts(), j.agent.Rerun == configs.RerunAsk && wasCut(standing):
		w.giveUp(ctx, j, run, cutShort(standing))
		return
	}
	attempt, err := w.begin(j, run)
	if err != nil {
		return
	}
	its, stop, ok := w.begun(ctx, j, attempt)
	defer stop()
	result := door.Result{Failure: door.Canceled}
	if ok {
		w.steps.started(j.agent.Name, it.Path)
		result = w.execute(its, asked, j, run, attempt)
		w.steps.ended(j.agent.Name, it.Path, result)
	}
	canceled := w.over(j)
	w.note(run, runlog.Entry{
		Step: runlog.Ended, Attempt: attempt, Tier: j.tier.Name, Failure: failureWord(result),
		Exit: result.ExitCode, Ran: result.Elapsed, Bytes: len(result.Output),
	})
	switch {
	case canceled != nil && result.Failure != door.None:
		w.tellCanceled(ctx, j, run, canceled, attempt)
		return
	case result.Failure == door.Canceled: // the node stops
		return
	case result.Failure != door.None && attempt < j.attempts() && mayHelp(result):
		next := w.Now().Add(pauseAfter(w.pause(), attempt))
		w.note(run, runlog.Entry{Step: runlog.Again, Attempt: attempt, Next: next})
		w.later(j, next)
		w.Runner.again(j, attempt, next, result)
		return
	case result.Failure != door.None:
		w.giveUp(ctx, j, run, protocol.Failure{Problem: result.Problem(), Attempts: attempt, Tier: j.tier.Name, Ran: result.Elapsed.Round(time.Millisecond), Text: printed(j.agent.Name, w.Host, result)})
		return
	}
	answer := fleet.Answer{As: w.queue.who, To: it.Path, Body: answerOf(j.agent.Name, w.Host, result), ByAgent: true}
	if w.keep(ctx, j, answer) {
		w.note(run, runlog.Entry{Step: runlog.Done})
	}
}

// answerOf is what a command has answered. It says what of it a message could not hold.
func answerOf(agent, host protocol.Name, r door.Result) string {
	text := r.Output
	if r.Strange > 0 {
		text += fmt.Sprintf("\n\n[marked by parley: not all that %s printed is text (UTF-8); bytes for which \uFFFD stands: %d]", agent, r.Strange)
	}
	if r.Truncated {
		text += fmt.Sprintf("\n\n[cut by parley: %s printed more than %d bytes]", agent, len(r.Output))
	}
	if note := masked(r.Secrets, agent, host); note != "" {
		text += "\n\n[marked by parley: " + note + "]"
	}
	return text
}

func (w *worker) execute(ctx context.Context, asked *protocol.Message, j job, run runlog.Job, attempt int) door.Result {
	var given prompt.Prompt
	err := w.Runner.outlast(ctx, func() (err error) {
		given, err = w.prompts.givenFor(j.agent, asked)
		return err
	})
	if ctx.Err() != nil {
		return door.Result{Failure: door.Canceled}
	}
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	w.prompts.keep(run, attempt, j, given)
	return w.Runner.run(ctx, j.agent, j.tier, given.Text, asked.Path,
		"PARLEY_FROM="+asked.From,
		"PARLEY_MESSAGE="+asked.Path.String(),
		"PARLEY_CHANNEL="+asked.Path.Channel().String(),
	)
}

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
)

// keep stores the outcome of handling a message. What an agent said is not thrown away because a
// disk is full: keep tries again until it works or the node stops. It reports whether the message
// is handled. If the node stops before, the next start goes on.
func (w *worker) keep(ctx context.Context, j job, c fleet.Command) (over bool) {
	it := j.it
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		ws, err := w.Act(ctx, c, it.Path)
		if err == nil {
			w.steps.handled(j.agent.Name, it.Path, ws)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		w.Log.Error().Err(err).Str("agent", w.queue.who.Name).Stringer("path", it.Path).Msg("cannot store the agent's answer")
		if writing.IsRefusal(err) {
			// Trying again cannot help. Without a receipt, the next start would run the agent
			// again.
			if _, acknowledged := c.(fleet.GiveReceipt); acknowledged {
				return true
			}
			c = fleet.GiveReceipt{As: w.queue.who, Of: it.Path}
		}
		if !wait.Sleep(ctx, pause) {
			return false
		}
	}
}

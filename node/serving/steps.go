package serving

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/metrics"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/node/trail"
	"github.com/parleyfleet/parley/protocol"
)

// steps tells of each step that agents' work on a message takes: the log gets a line with its path,
// the metrics count it, and the trail remembers it. The end of a run, a cancellation, a stopped
// conversation, another attempt and a dead letter are logged in any case, the rest for debugging.
type steps struct {
	log     zerolog.Logger
	metrics *metrics.Metrics // nil: nobody reads them
	trail   *trail.Trail
}

func (s *steps) queued(agent protocol.Name, p protocol.Path) {
	s.trail.NoteOf(p, protocol.TraceQueued, agent)
	s.log.Debug().Stringer("path", p).Stringer("agent", agent).Msg("queued")
}

func (s *steps) started(agent protocol.Name, p protocol.Path) {
	s.log.Debug().Stringer("path", p).Stringer("agent", agent).Msg("agent runs")
}

func (s *steps) ended(agent protocol.Name, p protocol.Path, r door.Result) {
	outcome := metrics.Answered
	if r.Failure != door.None {
		outcome = r.Failure.String()
	}
	s.metrics.Ran(agent, outcome, r.Elapsed)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Str("outcome", outcome).
		Stringer("elapsed", r.Elapsed.Round(time.Microsecond)).Msg("agent ran")
}

// canceled tells that somebody wants no more work on a message.
func (s *steps) canceled(agent protocol.Name, p protocol.Path, by string) {
	s.metrics.Count(agent, metrics.Canceled)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Str("by", by).Msg("run canceled")
}

// halted tells that agents have answered each other too often.
func (s *steps) halted(agent protocol.Name, p protocol.Path) {
	s.trail.NoteOf(p, protocol.TraceStopped, agent)
	s.metrics.Count(agent, metrics.Stopped)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Msg("conversation stopped")
}

// held tells that a message waits because agents have caused too many runs, of the agent or (if
// `talk` is true) in the conversation.
func (s *steps) held(agent protocol.Name, p protocol.Path, talk bool) {
	budget := metrics.OfAgent
	if talk {
		budget = metrics.OfConversation
	}
	s.metrics.Count(agent, metrics.Held, budget)
	s.log.Debug().Stringer("path", p).Stringer("agent", agent).Str("budget", string(budget)).Msg("held")
}

// handled tells that the outcome of a message is stored: the answer, or a receipt.
func (s *steps) handled(agent protocol.Name, p protocol.Path, stored []protocol.Path) {
	if len(stored) > 0 {
		s.log.Debug().Stringer("path", p).Stringer("agent", agent).Stringer("with", stored[0]).Msg("handled")
	}
}

// retried tells that an attempt failed and when the next one is due.
func (s *steps) retried(agent protocol.Name, p protocol.Path, attempt int, next time.Time) {
	s.metrics.Count(agent, metrics.Retried)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Int("attempt", attempt).Time("next", next).Msg("agent is tried again")
}

// gaveUp tells that an agent will not answer: the message is a dead letter.
// Why is in the record alone, where it can be hidden: a command's last words repeat what it was given.
func (s *steps) gaveUp(agent protocol.Name, p protocol.Path, attempts int) {
	s.metrics.Count(agent, metrics.GaveUp)
	s.log.Warn().Stringer("path", p).Stringer("agent", agent).Int("attempts", attempts).Msg("dead letter")
}

// Traces are the steps that agents' work on each of these messages has taken here.
func (sv *Serving) Traces(paths []protocol.Path) [][]protocol.TraceStep {
	traces := make([][]protocol.TraceStep, len(paths))
	histories, err := sv.runs.Histories(paths)
	if err != nil {
		sv.Log.Warn().Err(err).Msg("the runs of traced messages are not told")
	}
	for i, history := range histories {
		for _, e := range history {
			if e.Step == runlog.Done {
				continue // the outcome is in the record
			}
			traces[i] = append(traces[i], protocol.TraceStep{
				Time: e.Time, Step: string(e.Step), Agent: e.Agent, Retry: e.Retry, Attempt: e.Attempt, Tier: e.Tier,
				Failure: e.Failure, Exit: e.Exit, Ran: e.Ran, Bytes: e.Bytes, Next: e.Next,
			})
		}
	}
	sv.Folded(func(s *fleet.State) {
		for i, p := range paths {
			for _, w := range sv.doors.workers {
				job, some := w.jobOn(s, p)
				if !some {
					continue
				}
				step := protocol.TraceStep{Time: sv.Now().UTC(), Step: protocol.TraceAtWork, Agent: job.Agent, Attempt: job.Attempt}
				if job.State == control.JobWaiting {
					step.Step, step.By, step.Next, step.Text = protocol.TraceWaits, string(job.Why), job.Next, w.waitsText(job)
				} else {
					step.Ran = sv.Now().Sub(job.Since)
				}
				traces[i] = append(traces[i], step)
			}
		}
	})
	return traces
}

package serving

import (
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

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
					step.Step, step.By, step.Next = protocol.TraceWaits, string(job.Why), job.Next
				}
				traces[i] = append(traces[i], step)
			}
		}
	})
	return traces
}

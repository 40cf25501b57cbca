package serving

import (
	"fmt"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// waitsText is what else there is to say of a job that waits. It is asked while the state is read.
func (w *worker) waitsText(job control.Job) string {
	switch job.Why {
	case control.WhyBudget:
		return job.Budget
	case control.WhyStalled:
		return w.queue.stalled.why
	case control.WhyRetry:
		return job.Problem
	case control.WhyQuiet:
		if until := w.queue.quiet; !until.IsZero() {
			return "until " + span.At(until)
		}
	case control.WhyBusy, control.WhySlots:
		return fmt.Sprintf("waiting for it: %d", w.queue.waiting())
	}
	return ""
}

// Hinders is what keeps agents of this host from being run for a message that is for them, beside
// what it waits for in a queue: as steps of its trace.
func (sv *Serving) Hinders(p protocol.Path) (steps []protocol.TraceStep) {
	add := func(agent protocol.Name, id causes.ID, text string) {
		steps = append(steps, protocol.TraceStep{Step: protocol.TraceHinders, Agent: agent, By: string(id), Text: text})
	}
	for _, a := range sv.Roster.All() {
		var id causes.ID
		text, runs := "", false
		sv.Folded(func(s *fleet.State) { id, text, runs = sv.hinders(s, p, a) })
		if id != "" {
			add(a.Name, id, text)
		}
		if !runs {
			continue
		}
		if missing := sv.Runner.missing(a); missing != "" {
			add(a.Name, causes.Missing, missing)
		}
	}
	for _, a := range sv.claims.abandoned() {
		if a.path == p {
			add(protocol.Name(a.agent), causes.Claimed, a.problem(sv.Now()))
		}
	}
	return steps
}

// hinders is why an agent's command is not run for a message that is for it; `runs` says that it is
// run, or was and failed. It is asked while the state is read.
func (sv *Serving) hinders(s *fleet.State, p protocol.Path, a configs.Agent) (id causes.ID, text string, runs bool) {
	it, there := s.Ledger.Item(p)
	who := fleet.Who{Name: a.Name.String(), Host: sv.Host}
	if !there || it.ToAll() || !s.Talk.Reaches(it, who) || a.Door != configs.DoorExec {
		return "", "", false
	}
	limits := limitsOf(a, sv.Config.MaxHops)
	read := s.Talk.ReadBy(it, who)
	switch handling := s.Talk.Handle(it, who, limits); {
	case it.Act.Mail() && !limits.Wakes(it.Act):
		return causes.WakesNobody, string(it.Act), false
	case handling == fleet.Leave && it.Unattended:
		return causes.Unverified, "its host could not tell which program wrote it in the name of " + it.From, false
	case handling == fleet.Leave:
		return causes.Unverified, "no host signed it that serves " + it.From, false
	case handling == fleet.Run, read && s.Run(p, who.Name).Dead != nil:
		return "", "", true
	}
	return "", "", false
}

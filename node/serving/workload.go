package serving

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// mostJobTexts is for how many jobs a list has the text: each text is read from the record.
const mostJobTexts = 100

// maxJobText is how many characters of a message's first line a list of jobs has.
const maxJobText = 200

// maxReason bounds the length, in bytes, of the reason that somebody gives for a deed about a run.
// The reason stands in a line of a message, which must not become too large because of it.
const maxReason = 2000

func checkReason(do, reason string) error {
	if len(reason) > maxReason {
		return control.Errorf(control.KindUsage, "say it in fewer words, and the rest in a message", "cannot %s: the reason has %d bytes, and may have %d", do, len(reason), maxReason)
	}
	return nil
}

// workload is what the agents of this host have to do. It answers the verbs about that.
type workload struct {
	*Options
	doors *doors
}

// list answers control.Queue.
func (wl *workload) list(_ context.Context, r control.QueueRequest) ([]control.Job, error) {
	var of protocol.Path
	if r.Message != "" {
		it, err := wl.Find(r.Message)
		if err != nil {
			return nil, err
		}
		of = it.Path
	}
	if r.Agent != "" {
		if _, err := wl.Roster.Get(r.Agent); err != nil {
			return nil, err
		}
	}
	jobs := []control.Job{}
	var items []*fleet.Item
	wl.Folded(func(s *fleet.State) {
		for _, w := range wl.workers(r.Agent) {
			jobs = append(jobs, w.jobs(s, of)...)
		}
		for i := range jobs[:min(len(jobs), mostJobTexts)] {
			it, _ := s.Ledger.Item(jobs[i].Path)
			items = append(items, it)
		}
	})
	for i, it := range items {
		if it == nil { // what ran was removed meanwhile by a fold
			continue
		}
		m, err := wl.Load(it)
		if err != nil { // the other jobs are to be seen all the same
			jobs[i].Problem = cannotRead
			continue
		}
		jobs[i].Text = beginning(m.Body)
	}
	return jobs, nil
}

// beginning is the first line of a body that has text in it, at most maxJobText characters.
func beginning(body string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	text := []rune(strings.TrimSpace(first))
	return string(text[:min(len(text), maxJobText)])
}

// workers returns the workers of an agent, by name; if `agent` is "", of all agents. It is asked
// while the state is read.
func (wl *workload) workers(agent string) (all []*worker) {
	for name, w := range wl.doors.workers {
		if agent == "" || agent == name.String() {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *worker) int { return strings.Compare(a.queue.who.Name, b.queue.who.Name) })
	return all
}

// cancel answers control.Cancel.
func (wl *workload) cancel(ctx context.Context, by control.Caller, r control.CancelRequest) ([]control.Job, error) {
	if err := checkReason("cancel a run", r.Reason); err != nil {
		return nil, err
	}
	who, err := wl.Actor(by, "")
	if err != nil {
		return nil, err
	}
	it, err := wl.Find(r.Message)
	if err != nil {
		return nil, err
	}
	var workers []*worker
	wl.Folded(func(*fleet.State) { workers = wl.workers(r.Agent) })
	ended := []control.Job{}
	for _, w := range workers {
		jobs, err := w.cancel(ctx, it.Path, &cancellation{by: who.Name, reason: r.Reason})
		if err != nil {
			return nil, err
		}
		ended = append(ended, jobs...)
	}
	if elsewhere := wl.elsewhere(it.Path, r.Agent); len(ended) == 0 && len(elsewhere) > 0 {
		return nil, control.Errorf(control.KindRefused, "cancel it on that host: parley agent cancel "+it.Path.Short(),
			"cannot cancel %s from here: %s has to work on it", it.Path.Short(), strings.Join(elsewhere, ", "))
	}
	if len(ended) == 0 && r.Agent != "" {
		if _, err := wl.Roster.Get(r.Agent); err != nil {
			return nil, err
		}
	}
	if len(ended) == 0 {
		return nil, control.Errorf(control.KindNotFound, "parley why "+visible.Shell(it.Path.Short())+" shows what came of it, parley agent queue what there is to do",
			"cannot cancel %s: %s", it.Path.Short(), noWork(r.Agent))
	}
	return ended, nil
}

// elsewhere are the agents of other hosts that have to work on a message, as name@host: all, or the
// one that is named.
func (wl *workload) elsewhere(p protocol.Path, agent string) (all []string) {
	wl.Folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(p)
		if !there {
			return
		}
		names := each.Of(it.To, func(to protocol.Address) string { return to.Name })
		for _, i := range it.Chosen {
			names = append(names, i.Agent)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			host := s.Talk.ActingHost(it, name)
			if host == "" || host == wl.Host || agent != "" && name != agent || s.Run(p, name).Dead != nil || s.Talk.ReadBy(it, fleet.Who{Name: name, Host: host}) {
				continue
			}
			all = append(all, name+"@"+host.String())
		}
	})
	return all
}

// noWork says that the named agent has nothing to do for a message; if `agent` is "", that no agent
// has.
func noWork(agent string) string {
	if agent == "" {
		return "no agent of this host has to work on it"
	}
	return agent + " has no work on it"
}

// cancel ends the agent's work on a message, and returns the job as it stood; nothing if there was
// none. When it returns, the sender has been told, or the error says why not.
func (w *worker) cancel(ctx context.Context, p protocol.Path, c *cancellation) (jobs []control.Job, err error) {
	for {
		stood, at, waited := w.cancelNow(p, c)
		if jobs == nil {
			jobs = stood
		}
		switch {
		case waited != nil:
			return jobs, w.dropWaiting(ctx, waited, c)
		case at == nil && jobs == nil:
			return nil, nil
		case at == nil:
			return nil, control.Errorf(control.KindConflict, "parley replies "+p.Suffix()+" shows it",
				"cannot cancel the run of %s: it had come to its end, and what came of it is stored", w.queue.who.Name)
		}
		select {
		case <-at.done:
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot wait for the end of the run of %s: %w", w.queue.who.Name, ctx.Err())
		}
		kept := false
		w.Folded(func(*fleet.State) { kept = c.kept })
		if kept {
			return jobs, nil
		}
		// Its attempt had ended by then. The message now waits for the next attempt, or is handled.
	}
}

// cancelNow ends what is done for a message: a run is told to end, and a waiting message is taken
// out of the queue. It returns the job that there was; nil if there was none.
func (w *worker) cancelNow(p protocol.Path, c *cancellation) (jobs []control.Job, at *atWork, waited *fleet.Item) {
	w.Folded(func(s *fleet.State) {
		if t := w.queue.tasks[p]; t != nil {
			at = t.work
		}
		if at == nil {
			jobs = w.jobs(s, p)
			if waited = w.queue.takeOut(s, p, c); waited == nil {
				jobs = nil
			}
			return
		}
		if at.j.handling != fleet.Run {
			at = nil
			return
		}
		jobs = w.jobs(s, p)
		if at.canceled == nil && !at.closed {
			at.canceled = c
			if at.stop != nil {
				at.stop()
			}
		}
	})
	return jobs, at, waited
}

// dropWaiting tells the sender of a message that was taken out of the queue. If that cannot be
// stored, the message waits as before.
func (w *worker) dropWaiting(ctx context.Context, it *fleet.Item, c *cancellation) error {
	var run runlog.Job
	w.Folded(func(s *fleet.State) { run = w.job(s, it.Path) })
	ws, err := w.Act(ctx, w.canceledAnswer(it.Path, c, w.runs.Standing(run).Attempts), it.Path)
	w.Folded(func(*fleet.State) {
		if err != nil {
			w.queue.putBack(it.Path)
		} else {
			w.queue.gone(it.Path)
		}
	})
	if err != nil {
		return fmt.Errorf("cannot cancel the run of %s: %w", w.queue.who.Name, err)
	}
	w.note(run, runlog.Entry{Step: runlog.Done})
	w.steps.canceled(w.queue.agent.Name, it.Path, c.by)
	w.steps.handled(w.queue.agent.Name, it.Path, ws)
	return nil
}

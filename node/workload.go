package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// mostJobTexts is of how many jobs a list has the text: each is read from the record.
const mostJobTexts = 100

// maxJobText is how many characters of a message's first line a list of jobs has.
const maxJobText = 200

// maxReason bounds, in bytes, why somebody says to do something about a run: it stands in a
// line of a message, which must not become too large to be sent because of it.
const maxReason = 2000

// checkReason refuses a reason that is too long.
func checkReason(do, reason string) error {
	if len(reason) > maxReason {
		return control.Errorf(control.KindUsage, "say it in fewer words, and the rest in a message", "cannot %s: the reason has %d bytes, and may have %d", do, len(reason), maxReason)
	}
	return nil
}

// workload is what the agents of this host have to do. It answers the verbs about it.
type workload struct {
	folded folded.State
	views  *views
	doors  *doors
	roster *agents.Roster
	actor  func(by control.Caller, as string) (fleet.Who, error) // who acts; see Node.actor
}

// list answers control.Queue.
func (wl *workload) list(_ context.Context, r control.QueueRequest) ([]control.Job, error) {
	var of protocol.Path
	if r.Message != "" {
		f, err := wl.views.find(r.Message)
		if err != nil {
			return nil, err
		}
		of = f.item.Path
	}
	if r.Agent != "" {
		if _, err := wl.roster.Get(r.Agent); err != nil {
			return nil, err
		}
	}
	jobs := []control.Job{}
	var items []*fleet.Item
	wl.folded(func(s *fleet.State) {
		for _, w := range wl.workers(r.Agent) {
			jobs = append(jobs, w.jobs(s, of)...)
		}
		for i := range jobs[:min(len(jobs), mostJobTexts)] {
			it, _ := s.Ledger.Item(jobs[i].Path)
			items = append(items, it)
		}
	})
	for i, it := range items {
		if it == nil { // what runs was removed by a fold meanwhile
			continue
		}
		m, err := wl.views.load(it)
		if err != nil { // the others are to be seen all the same
			jobs[i].Problem = cannotRead
			continue
		}
		jobs[i].Text = beginning(m.Body)
	}
	return jobs, nil
}

// beginning is the first line of a body that has text in it.
func beginning(body string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	text := []rune(strings.TrimSpace(first))
	return string(text[:min(len(text), maxJobText)])
}

// workers are those of an agent, "" for all, by name, in a look at the state.
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
	who, err := wl.actor(by, "")
	if err != nil {
		return nil, err
	}
	f, err := wl.views.find(r.Message)
	if err != nil {
		return nil, err
	}
	if r.Agent != "" {
		if _, err := wl.roster.Get(r.Agent); err != nil {
			return nil, err
		}
	}
	var workers []*worker
	wl.folded(func(*fleet.State) { workers = wl.workers(r.Agent) })
	ended := []control.Job{}
	for _, w := range workers {
		jobs, err := w.cancel(ctx, f.item.Path, &cancellation{by: who.Name, reason: r.Reason})
		if err != nil {
			return nil, asError(err)
		}
		ended = append(ended, jobs...)
	}
	if len(ended) == 0 {
		return nil, control.Errorf(control.KindNotFound, "parley trace "+f.item.Path.Short()+" shows what came of it, parley queue what there is to do",
			"cannot cancel %s: %s", f.item.Path.Short(), noWork(r.Agent))
	}
	return ended, nil
}

// noWork is that the agent named, or with "" any, has nothing to do for a message.
func noWork(agent string) string {
	if agent == "" {
		return "no agent of this host has to work on it"
	}
	return agent + " has no work on it"
}

// cancel ends the agent's work on a message, and returns it as it stood, nothing where
// there is none. When it returns the sender is told, or the error says why not.
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
		w.folded(func(*fleet.State) { kept = c.kept })
		if kept {
			return jobs, nil
		}
		// Its attempt had ended by then: it waits for the next one now, or is handled.
	}
}

// cancelNow has what is done for a message end: a run that goes on is told to, and what
// waits is taken out of the queue. It returns what there was, nil where there is nothing.
func (w *worker) cancelNow(p protocol.Path, c *cancellation) (jobs []control.Job, at *atWork, waited *fleet.Item) {
	w.folded(func(s *fleet.State) {
		at = w.queue.at[p]
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

// dropWaiting tells the sender of a message that was taken out of the queue. Where that
// cannot be stored it waits as before.
func (w *worker) dropWaiting(ctx context.Context, it *fleet.Item, c *cancellation) error {
	var run runlog.Job
	w.folded(func(s *fleet.State) { run = w.job(s, it.Path) })
	ws, err := w.act(ctx, w.canceledAnswer(it.Path, c, w.runs.Standing(run).Attempts), it.Path)
	w.folded(func(*fleet.State) {
		if err != nil {
			w.queue.putBack(it)
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

package serving

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// mostReadings is how often a message is tried to be read for an agent before that is given up.
// With the pauses of retries in between, that takes a quarter of an hour. In that time, the record
// may get the message back from the remote.
const mostReadings = 6

// cannotRead is what a list of jobs says of a message whose text cannot be read.
const cannotRead = "cannot be read"

// unreadable has a message wait whose text cannot be read. In the end it becomes a dead letter:
// else its sender would wait for ever.
func (w *worker) unreadable(ctx context.Context, j job, why error) {
	var run runlog.Job
	tries := 0
	w.Folded(func(s *fleet.State) {
		run, tries = w.job(s, j.it.Path), w.queue.unreadable(w.queue.tasks[j.it.Path], why)
	})
	if tries < mostReadings {
		w.later(j, w.Now().Add(pauseAfter(w.pause(), tries)))
		return
	}
	w.giveUp(ctx, j, run, protocol.Failure{Problem: why.Error(), Attempts: w.runs.Standing(run).Attempts})
}

// unreadable notes that the text of a message cannot be read, and returns how often that has
// happened.
func (q *queue) unreadable(t *task, why error) (tries int) {
	t.unread++
	q.Notices.Wrong(q.textOf(t), "a message waits for %s: %v; it is tried again", q.agent.Name, why)
	return t.unread
}

// readable notes that the text of a message can be read, or is not needed any more.
func (q *queue) readable(t *task) {
	if t.unread > 0 {
		t.unread = 0
		q.Notices.Mended(q.textOf(t))
	}
}

// textOf names what the warning is about.
func (q *queue) textOf(t *task) string {
	return "the text of " + t.it.Path.String() + " for " + q.who.Name
}

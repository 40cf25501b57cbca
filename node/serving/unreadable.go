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
	w.Folded(func(s *fleet.State) { run, tries = w.job(s, j.it.Path), w.queue.unreadable(j.it.Path, why) })
	if tries < mostReadings {
		w.later(j, w.Now().Add(pauseAfter(w.pause(), tries)))
		return
	}
	w.giveUp(ctx, j, run, protocol.Failure{Problem: why.Error(), Attempts: w.runs.Standing(run).Attempts})
	w.Folded(func(*fleet.State) { w.queue.readable(j.it.Path) })
}

// unreadable notes that the text of a message cannot be read, and returns how often that has
// happened.
func (q *queue) unreadable(p protocol.Path, why error) (tries int) {
	q.unread[p]++
	q.Notices.Wrong(q.textOf(p), "a message waits for %s: %v; it is tried again", q.agent.Name, why)
	return q.unread[p]
}

// readable notes that the text of a message can be read, or is not needed any more.
func (q *queue) readable(p protocol.Path) {
	if q.unread[p] > 0 {
		delete(q.unread, p)
		q.Notices.Mended(q.textOf(p))
	}
}

// textOf names what the warning is about.
func (q *queue) textOf(p protocol.Path) string {
	return "the text of " + p.String() + " for " + q.who.Name
}

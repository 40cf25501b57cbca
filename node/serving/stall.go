package serving

import "time"

// stall says that nothing can be started for an agent at the moment, because the disk does not take
// the note that it is started. It is tried again after a pause, which grows.
type stall struct {
	why   string
	until time.Time
	tries int
}

// stall puts a message back that is at work and could not be started. All messages of the agent
// wait for a while.
func (q *queue) stall(j job, why error) {
	q.set(q.tasks[j.it.Path], aside)
	q.stalled.why = why.Error()
	q.Notices.Wrong(q.stalls(), "%s is not run: %v; its mail waits, and it is tried again", q.agent.Name, why)
	if q.isStalled() {
		return // other messages of the agent have found the same at this moment
	}
	pause := firstPause
	for range q.stalled.tries {
		pause = min(2*pause, maxPause)
	}
	q.stalled.tries++
	q.stalled.until = q.Now().Add(pause)
	time.AfterFunc(pause, q.nudge)
}

// isStalled reports whether the pause is not over yet.
func (q *queue) isStalled() bool { return q.Now().Before(q.stalled.until) }

func (q *queue) stalledNoMore() {
	if q.stalled.tries > 0 {
		q.stalled = stall{}
		q.Notices.Mended(q.stalls())
		q.nudge()
	}
}

func (q *queue) stalls() string { return "the start of " + q.who.Name }

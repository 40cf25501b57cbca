package node

import "time"

// stall is that nothing of an agent can be started at the moment, because the disk does
// not take that it is. It is tried again after a pause, which grows.
type stall struct {
	why   string
	until time.Time
	tries int
}

// stall puts a message back that is at work and could not be started, and has all that is
// the agent's wait for a while.
func (q *queue) stall(j job, why error) {
	q.aside[j.it.Path] = j.it
	q.stalled.why = why.Error()
	q.notices.Wrong(q.stalls(), "%s is not run: %v; its mail waits, and it is tried again", q.agent.Name, why)
	if q.isStalled() {
		return // others of its messages have found that out in the same moment
	}
	pause := firstPause
	for range q.stalled.tries {
		pause = min(2*pause, maxPause)
	}
	q.stalled.tries++
	q.stalled.until = time.Now().Add(pause)
	time.AfterFunc(pause, q.nudge)
}

// isStalled reports whether it is not to be tried yet.
func (q *queue) isStalled() bool { return time.Now().Before(q.stalled.until) }

// stalledNoMore notes that something was started.
func (q *queue) stalledNoMore() {
	if q.stalled.tries > 0 {
		q.stalled = stall{}
		q.notices.Mended(q.stalls())
		q.nudge()
	}
}

// stalls is what the warning is about.
func (q *queue) stalls() string { return "the start of " + q.who.Name }

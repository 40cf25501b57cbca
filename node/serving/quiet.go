package serving

import (
	"time"

	"github.com/parleyfleet/parley/fleet"
)

// clockLook is the longest wait for a time of the wall clock before the clock is looked at again. A
// program's timer stands still while the machine sleeps, and the wall clock can be set.
const clockLook = time.Minute

// pauseUntil is how long to pause before looking again whether the time `at` has come.
func pauseUntil(at, now time.Time) time.Duration { return max(0, min(at.Sub(now), clockLook)) }

// isQuiet reports whether the queue's agent has quiet hours now. If so, it makes sure that the
// worker looks again when they end.
func (q *queue) isQuiet() bool {
	now := q.Now()
	end := q.agent.Quiet.Until(now.Local())
	if end.IsZero() {
		return false
	}
	if next := now.Add(pauseUntil(end, now)); !now.Before(q.quiet) || next.Before(q.quiet) {
		q.quiet = next
		time.AfterFunc(next.Sub(now), q.nudge)
	}
	return true
}

// restsFor reports whether the agent's command is not run for a message in quiet hours, because
// agents have caused the message (R13). A message that a human or a script wrote is never held
// back, nor is one for which no command is run.
func (q *queue) restsFor(s *fleet.State, it *fleet.Item) bool {
	return s.Talk.Hops(it) > 0 && s.Talk.Handle(it, q.who, q.limits()) == fleet.Run
}

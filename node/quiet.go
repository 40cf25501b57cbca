package node

import (
	"time"

	"github.com/parleyfleet/parley/fleet"
)

// clockLook is how long nobody waits for a time of the wall's clock without a look at it: a
// pause of a program stands still while the machine sleeps, and that clock can be set.
const clockLook = time.Minute

// pauseUntil is how long to pause before a look whether that time has come.
func pauseUntil(at, now time.Time) time.Duration { return max(0, min(at.Sub(now), clockLook)) }

// isQuiet reports whether it is quiet hours for the queue's agent, and has its worker look
// again until they end.
func (q *queue) isQuiet() bool {
	now := q.now()
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

// restsFor reports whether in quiet hours the agent's command is not run for a message:
// agents have caused it (R13). What humans and scripts write themselves is never held back,
// and what runs nothing is done.
func (q *queue) restsFor(s *fleet.State, it *fleet.Item) bool {
	return s.Talk.Hops(it) > 0 && s.Talk.Handle(it, q.who, q.limits()) == fleet.Run
}

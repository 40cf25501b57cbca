package node

import (
	"time"

	"github.com/parleyfleet/parley/fleet"
)

// isQuiet reports whether it is quiet hours for the queue's agent, and has its worker look
// again when they end.
func (q *queue) isQuiet() bool {
	now := q.now()
	end := q.agent.Quiet.Until(now.Local())
	if end.IsZero() {
		return false
	}
	if !end.Equal(q.quiet) {
		q.quiet = end
		time.AfterFunc(end.Sub(now), q.nudge)
	}
	return true
}

// restsFor reports whether in quiet hours the agent's command is not run for a message:
// agents have caused it (R13). What humans and scripts write themselves is never held back,
// and what runs nothing is done.
func (q *queue) restsFor(s *fleet.State, it *fleet.Item) bool {
	return s.Talk.Hops(it) > 0 && s.Talk.Handle(it, q.who, q.limits()) == fleet.Run
}

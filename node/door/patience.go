package door

import "time"

// patience is a time that is waited for. It counts only time in which this process runs: a run must
// not be thrown away because its node was stopped until after the timeout, or all of the machine
// with it.
type patience struct {
	*time.Timer
	left    time.Duration
	drained bool
}

// patienceStep is how much of a time in which this process is stopped counts at most.
const patienceStep = time.Second

func newPatience(d time.Duration) *patience {
	p := &patience{left: d}
	p.Timer = time.NewTimer(p.step())
	return p
}

func (p *patience) step() time.Duration { return min(p.left, patienceStep) }

// over reports whether the time has passed. It is asked when the timer has fired. At the end it
// gives lastDrain more: what happened while this process was stopped is noticed in that time.
func (p *patience) over() bool {
	if p.left -= p.step(); p.left <= 0 {
		if p.drained {
			return true
		}
		p.left, p.drained = lastDrain, true
	}
	p.Reset(p.step())
	return false
}

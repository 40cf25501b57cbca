package gitsync

import (
	"sync"
	"time"
)

// courierStep is what every further courier waits longer than the one before it,
// besides two push intervals.
const courierStep = 3 * time.Second

// SetPlace says where this node stands among the couriers: the hosts that are connected to each
// other and can push. The first, 1, commits and pushes what all of them have stored, at once. The
// others push what the remote still lacks after a time that grows with their place. 0, which
// holds at first, means that nobody else can be relied on. Then this node pushes at once what it
// stored, and what it heard when Options.Grace is over. Places decide who pushes when, never
// what: whatever they are, somebody pushes everything.
func (r *Record) SetPlace(place int) {
	if r.courier.setPlace(place) {
		ring(r.commitBell)
		ring(r.share.pushBell)
	}
}

// CanPush reports whether this node can be a courier: the remote was reached, and
// the last fetch and the last push, if there was one, worked.
func (r *Record) CanPush() bool { return r.opts.Remote != "" && r.contact.works() }

// courier says what this node commits and pushes at once, and what it leaves to others
// for how long.
type courier struct {
	shared       bool          // there is a remote
	peers        time.Duration // what Options.Grace says
	pushInterval time.Duration

	mu    sync.Mutex // guards place
	place int        // among the couriers, as SetPlace says
}

// setPlace reports whether that is another place than before.
func (c *courier) setPlace(place int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.place != place
	c.place = place
	return changed
}

func (c *courier) at() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.place
}

// patience is how long it leaves messages to the couriers before it.
func (c *courier) patience() time.Duration {
	return time.Duration(max(0, c.at()-1)) * (courierStep + 2*c.pushInterval)
}

// grace is how long a message of a peer is left to others before it is committed here.
func (c *courier) grace() time.Duration {
	if !c.shared || c.at() == 1 {
		return 0
	}
	return c.peers
}

// pushFrom is the moment from which what the remote lacks is this node's to push;
// false where it lacks nothing. Files that are no messages, and what an operator
// committed, are known to nobody else, and wait for nobody.
func (c *courier) pushFrom(lag lag, usable time.Time) (time.Time, bool) {
	switch {
	case !lag.behind:
		return time.Time{}, false
	case lag.otherFiles || lag.unpushed == 0:
		return time.Time{}, true
	}
	// What waited for the remote does not rush to it from all hosts at once.
	return later(lag.oldest, usable).Add(c.patience()), true
}

// waits reports whether another host is to push what this one has.
func (c *courier) waits(lag lag) bool { return c.at() > 1 && lag.unpushed > 0 }

package gitsync

import (
	"sync"
	"time"
)

// courierStep is how much longer each courier waits than the one before it, in addition to two push
// intervals.
const courierStep = 3 * time.Second

// SetPlace says which place this node has among the couriers. The couriers are the hosts that are
// connected to each other and can push. The first one, with the place 1, commits and pushes at once
// what all of them have stored. Each other one pushes what the remote still lacks after a time that
// grows with its place. The place 0, which holds at first, means that this node can rely on nobody.
// Then it pushes at once what it stored itself. What it heard from others it pushes once
// Options.Grace is over. Places decide who pushes when, never what: with any places, somebody
// pushes everything.
func (r *Record) SetPlace(place int) {
	if r.courier.setPlace(place) {
		ring(r.commitBell)
		ring(r.share.pushBell)
	}
}

// CanPush reports whether this node can be a courier: the remote was reached, and
// the last fetch and the last push, if there was one, worked.
func (r *Record) CanPush() bool { return r.opts.isShared() && r.contact.works() }

// courier says what this node commits and pushes at once, and what it leaves to others for how
// long.
type courier struct {
	shared       func() bool   // there is a remote
	peers        time.Duration // Options.Grace
	pushInterval time.Duration

	mu    sync.Mutex // guards place
	place int        // the place that SetPlace has set
}

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

// patience is how long this node leaves messages to the couriers before it.
func (c *courier) patience() time.Duration {
	return time.Duration(max(0, c.at()-1)) * (courierStep + 2*c.pushInterval)
}

// grace is how long a message of a peer is left to others before it is committed here.
func (c *courier) grace() time.Duration {
	if !c.shared() || c.at() == 1 {
		return 0
	}
	return c.peers
}

// pushFrom is the moment from which this node is to push what the remote lacks. It is false if the
// remote lacks nothing. Files that are no messages, and commits of an operator, are known to nobody
// else, and are pushed at once.
func (c *courier) pushFrom(lag lag, usable time.Time) (time.Time, bool) {
	switch {
	case !lag.behind:
		return time.Time{}, false
	case lag.otherFiles || lag.unpushed == 0:
		return time.Time{}, true
	}
	// Waiting messages are not pushed by all hosts at once when the remote can be used again.
	return later(lag.oldest, usable).Add(c.patience()), true
}

// waits reports whether another host is to push what this host has.
func (c *courier) waits(lag lag) bool { return c.at() > 1 && lag.unpushed > 0 }

package gitsync

import "time"

// courierStep is what every further courier waits longer than the one before it,
// besides two push intervals.
const courierStep = 3 * time.Second

// SetPlace says where this node stands among the couriers: the hosts that are
// connected to each other and can push. The first, 1, commits and pushes what all
// of them have stored, at once. The others push what the remote still lacks after
// a time that grows with their place. 0, which holds at first, means that nobody
// else can be relied on: what this node stored it pushes at once, what it heard
// when Options.Grace is over. Places decide who pushes when, never what: whatever
// they are, somebody pushes everything.
func (r *Record) SetPlace(place int) {
	r.state.mu.Lock()
	changed := r.state.place != place
	r.state.place = place
	r.state.mu.Unlock()
	if changed {
		ring(r.commitBell)
		ring(r.shareBell)
	}
}

// courierWait is how long a courier leaves messages to those before it. The
// caller holds state.mu.
func (r *Record) courierWait() time.Duration {
	return time.Duration(max(0, r.state.place-1)) * (courierStep + 2*r.opts.PushInterval)
}

// peerGrace is how long a letter of a peer is left to others before it is
// committed here.
func (r *Record) peerGrace() time.Duration {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if r.opts.Remote == "" || r.state.place == 1 {
		return 0
	}
	return r.opts.Grace
}

// pushFrom is the moment from which what the remote lacks is this node's to push;
// false where it lacks nothing. Files that are no messages, and what an operator
// committed, are known to nobody else, and wait for nobody.
func (r *Record) pushFrom() (time.Time, bool) {
	lag := r.progress.lag()
	switch {
	case !lag.behind:
		return time.Time{}, false
	case lag.otherFiles || lag.unpushed == 0:
		return time.Time{}, true
	}
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	// What waited for the remote does not rush to it from all hosts at once.
	return later(lag.oldest, r.state.usable).Add(r.courierWait()), true
}

// waitsForCourier reports whether another host is to push what this one has.
func (r *Record) waitsForCourier() bool {
	unpushed := r.progress.lag().unpushed
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.state.place > 1 && unpushed > 0
}

// CanPush reports whether this node can be a courier: the remote was reached, and
// the last fetch and the last push, if there was one, worked.
func (r *Record) CanPush() bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.opts.Remote != "" && !r.state.lastFetch.IsZero() && r.trouble().Kind == KindNone
}

package presence

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/protocol"
)

const (
	every = 5 * time.Second
	// Lasts is how long after its last word a host counts as connected.
	Lasts      = 3 * every
	heardWait  = 50 * time.Millisecond // how long a cumulative "heard" gathers, at least
	heardEach  = 10 * time.Millisecond // and for each host that is connected: all of them are told
	smallFleet = 8                     // connected hosts that may all say at once that they heard what is for all
	maxHeard   = 20000                 // messages whose hearers are remembered
)

// Live is what the node knows of the moment: which hosts are connected and who
// has heard what. None of it is state; it is gone with the process.
type Live struct {
	now func() time.Time
	to  *feed.Events // are told who came and went, and who has heard what

	mu       sync.Mutex                      // guards what follows
	presence map[protocol.Name]bus.Presence  // the last of each host, those that left too
	clocks   map[protocol.Name]time.Duration // those of hosts less ours, as they answered; see believes
	told     map[protocol.Name]string        // the runs of hosts that are there, as was told last
	missing  []protocol.Name                 // hosts that joined and were not heard
	lost     []protocol.Name                 // hosts that can be reached no more
	measured map[protocol.Name]time.Duration // round trips to hosts, since they came
	heard    map[protocol.Path][]protocol.Name
	order    map[protocol.Name][]protocol.Path // of heard, by who told of them first, oldest first
	later    []protocol.Path
	change   chan struct{} // closed and replaced at every change

	confirming map[protocol.Name]time.Time // when hosts were asked last whether they said what came
	looked     map[protocol.Name]time.Time // when hosts were looked for last because another one lost them
}

// NewLive knows of nobody. It tells of what it learns.
func NewLive(now func() time.Time, to *feed.Events) *Live {
	return &Live{
		now:      now,
		to:       to,
		presence: map[protocol.Name]bus.Presence{},
		measured: map[protocol.Name]time.Duration{},
		heard:    map[protocol.Path][]protocol.Name{},
		order:    map[protocol.Name][]protocol.Path{},
		change:   make(chan struct{}),
		told:     map[protocol.Name]string{},
		clocks:   map[protocol.Name]time.Duration{},

		confirming: map[protocol.Name]time.Time{},
		looked:     map[protocol.Name]time.Time{},
	}
}

// Next returns a channel that is closed at the next change.
func (l *Live) Next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.change
}

// signal wakes whoever waits for a change. The caller holds mu.
func (l *Live) signal() {
	close(l.change)
	l.change = make(chan struct{})
}

// Changed wakes whoever waits for the stage of one of these messages.
func (l *Live) Changed([]protocol.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signal()
}

// see takes in a host's presence, and reports whether it has just come.
func (l *Live) see(p bus.Presence) (came bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.presence[p.Host]
	came = p.Live && (!known || last.Run != p.Run || !l.lasts(last))
	l.presence[p.Host] = p
	if came {
		delete(l.measured, p.Host) // it may be elsewhere
	}
	l.signal()
	return came
}

// tellTurns tells which hosts have come or gone since it did that last. One that was
// started anew meanwhile went and came.
func (l *Live) tellTurns() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, host := range slices.Sorted(maps.Keys(l.presence)) {
		p := l.presence[host]
		run, there := l.told[host]
		lasts := l.lasts(p)
		if there && (!lasts || run != p.Run) {
			delete(l.told, host)
			l.to.Host(host, control.HostWent)
		}
		if lasts && (!there || run != p.Run) {
			l.told[host] = p.Run
			l.to.Host(host, control.HostCame)
		}
	}
}

// Present are the hosts that are connected now.
func (l *Live) Present() []bus.Presence {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []bus.Presence
	for _, p := range l.presence {
		if l.lasts(p) {
			all = append(all, p)
		}
	}
	return all
}

// connected is how many other hosts are connected now. The caller holds mu.
func (l *Live) connected() int {
	n := 0
	for _, p := range l.presence {
		if l.lasts(p) {
			n++
		}
	}
	return n
}

// Crowded reports whether so many hosts are connected that they must not all answer
// one at once.
func (l *Live) Crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.connected() > smallFleet
}

// PresenceOf is the last presence of a host, if there was one since the start, and
// whether the host is connected now.
func (l *Live) PresenceOf(host protocol.Name) (last bus.Presence, live bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.presence[host]
	return last, ok && l.lasts(last)
}

// lasts reports whether a host with this last presence counts as connected: it has
// not said that it leaves, and was heard a short time ago. The caller holds mu.
func (l *Live) lasts(p bus.Presence) bool { return p.Live && l.now().Sub(p.Seen) < Lasts }

// Hear takes in that a host has fsynced these messages, and returns those of which it had
// not said so before. What is too much to remember is forgotten of the host that has told
// most: who tells of messages that are none takes away nothing but its own.
func (l *Live) Hear(host protocol.Name, paths []protocol.Path) (fresh []protocol.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range paths {
		by, known := l.heard[p]
		if !known {
			l.order[host] = append(l.order[host], p)
		}
		if i, found := slices.BinarySearch(by, host); !found {
			l.heard[p] = slices.Insert(by, i, host)
			fresh = append(fresh, p)
		}
	}
	for len(l.heard) > maxHeard {
		l.forget(l.mostHeard())
	}
	l.to.Reached(fresh, protocol.StageHeard, host)
	l.signal()
	return fresh
}

// mostHeard is the host that has told most, the first by name of several. The caller
// holds mu.
func (l *Live) mostHeard() (most protocol.Name) {
	for host, paths := range l.order {
		if c := cmp.Compare(len(paths), len(l.order[most])); c > 0 || c == 0 && host < most {
			most = host
		}
	}
	return most
}

// forget forgets the oldest message that a host has told of first. The caller holds mu.
func (l *Live) forget(host protocol.Name) {
	delete(l.heard, l.order[host][0])
	if l.order[host] = l.order[host][1:]; len(l.order[host]) == 0 {
		delete(l.order, host)
	}
}

// Hearers are the hosts known to have fsynced the message, by alias.
func (l *Live) Hearers(p protocol.Path) []protocol.Name {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard[p])
}

// HeardLater gathers messages to acknowledge and has them published together a
// moment later.
func (l *Live) HeardLater(paths []protocol.Path, publish func([]protocol.Path)) {
	if len(paths) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	first := len(l.later) == 0
	l.later = append(l.later, paths...)
	if first {
		time.AfterFunc(max(heardWait, time.Duration(l.connected())*heardEach), func() {
			l.mu.Lock()
			all := l.later
			l.later = nil
			l.mu.Unlock()
			publish(all)
		})
	}
}

// measure notes a round trip to a host.
func (l *Live) measure(host protocol.Name, rtt time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.measured[host] = rtt
}

// RoundTrip is the last round trip to a host that was measured since it came, 0
// for none.
func (l *Live) RoundTrip(host protocol.Name) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.measured[host]
}

package presence

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/protocol"
)

const (
	every = 5 * time.Second
	// Lasts is how long after its last word a host counts as connected.
	Lasts      = 3 * every
	heardWait  = 50 * time.Millisecond // how long a cumulative "heard" gathers messages, at least
	heardEach  = 10 * time.Millisecond // and at least this long for each connected host, because all of them are told
	smallFleet = 8                     // up to this many connected hosts may all say at once that they heard a message for all
	maxHeard   = 20000                 // messages whose hearers are remembered
)

// Live is what the node knows of the moment: which hosts are connected, and which have heard what.
// None of this is state: it is gone with the process.
type Live struct {
	now func() time.Time
	to  *feed.Events // is told which hosts came and went, and which have heard what

	change wait.Change

	mu       sync.Mutex                      // guards what follows
	presence map[protocol.Name]bus.Presence  // the last one of each host, also of hosts that left
	clocks   map[protocol.Name]time.Duration // of hosts, their clock less ours, as they answered; see believes
	told     map[protocol.Name]string        // the runs of hosts that are there, as was last told
	missing  []protocol.Name                 // hosts that joined and were not heard
	lost     []protocol.Name                 // hosts that cannot be reached any more
	measured map[protocol.Name]time.Duration // the last round trip to each host since it came
	heard    map[reached][]protocol.Name
	order    map[protocol.Name][]reached                 // the keys of heard, by the host that told of them first, the oldest first
	waits    map[protocol.Name]map[string]protocol.Waits // what sessions wait for, as their hosts said last, also this one
	later    []protocol.Path

	confirming map[protocol.Name]time.Time // when a host was last asked whether it said what came
	looked     map[protocol.Name]time.Time // when a host was last looked for because another one lost it
}

// reached is a message that a host has, or for which it rang a session of the agent.
type reached struct {
	agent protocol.Name // "": the host has it
	path  protocol.Path
}

// NewLive makes a Live that knows of nobody. It tells `to` what it learns.
func NewLive(now func() time.Time, to *feed.Events) *Live {
	return &Live{
		now:      now,
		to:       to,
		presence: map[protocol.Name]bus.Presence{},
		measured: map[protocol.Name]time.Duration{},
		heard:    map[reached][]protocol.Name{},
		order:    map[protocol.Name][]reached{},
		waits:    map[protocol.Name]map[string]protocol.Waits{},
		told:     map[protocol.Name]string{},
		clocks:   map[protocol.Name]time.Duration{},

		confirming: map[protocol.Name]time.Time{},
		looked:     map[protocol.Name]time.Time{},
	}
}

// Next returns a channel that is closed at the next change.
func (l *Live) Next() <-chan struct{} { return l.change.Next() }

// Changed wakes everybody who waits for the stage of one of these messages.
func (l *Live) Changed([]protocol.Path) { l.change.Tell() }

// see takes in a host's presence, and reports whether the host has just come.
func (l *Live) see(p bus.Presence) (came bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.presence[p.Host]
	came = p.Live && (!known || last.Run != p.Run || !l.lasts(last))
	l.presence[p.Host] = p
	l.say(p.Host, p.Waits)
	if came {
		delete(l.measured, p.Host) // the host may be somewhere else now
	}
	l.change.Tell()
	return came
}

// tellTurns tells which hosts have come or gone since its last call. A host that was started anew
// in between went and came.
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

// Present returns the hosts that are connected now.
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

// Crowded reports whether so many hosts are connected that not all of them may answer one host at
// once.
func (l *Live) Crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.connected() > smallFleet
}

// PresenceOf returns the last presence of a host, if there was one since the start, and whether the
// host is connected now.
func (l *Live) PresenceOf(host protocol.Name) (last bus.Presence, live bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.presence[host]
	return last, ok && l.lasts(last)
}

// lasts reports whether a host with this last presence counts as connected: it has not said that it
// leaves, and it was heard a short time ago. The caller holds mu.
func (l *Live) lasts(p bus.Presence) bool { return p.Live && l.now().Sub(p.Seen) < Lasts }

// Hear takes in that a host has fsynced these messages or, with an agent, that the program of a
// session of it took the bell for them. It returns those of which the host had not said so before.
// If there are too many to remember, messages of the host that has told of most are forgotten. So a
// host that tells of messages that do not exist takes away only its own.
func (l *Live) Hear(host, agent protocol.Name, paths []protocol.Path) (fresh []protocol.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range paths {
		r := reached{agent, p}
		by, known := l.heard[r]
		if !known {
			l.order[host] = append(l.order[host], r)
		}
		if i, found := slices.BinarySearch(by, host); !found {
			l.heard[r] = slices.Insert(by, i, host)
			fresh = append(fresh, p)
		}
	}
	for len(l.heard) > maxHeard {
		l.forget(l.mostHeard())
	}
	if agent == "" {
		l.to.Reached(fresh, protocol.StageHeard, host)
	} else if len(fresh) > 0 {
		l.to.Session(host, agent, control.SessionWoken)
	}
	l.change.Tell()
	return fresh
}

// mostHeard is the host that has told of most messages; if several have, the first one by name. The
// caller holds mu.
func (l *Live) mostHeard() (most protocol.Name) {
	for host, paths := range l.order {
		if c := cmp.Compare(len(paths), len(l.order[most])); c > 0 || c == 0 && host < most {
			most = host
		}
	}
	return most
}

// forget forgets the oldest message of which a host was the first to tell. The caller holds mu.
func (l *Live) forget(host protocol.Name) {
	delete(l.heard, l.order[host][0])
	if l.order[host] = l.order[host][1:]; len(l.order[host]) == 0 {
		delete(l.order, host)
	}
}

// Hearers returns the hosts that are known to have fsynced the message, by alias.
func (l *Live) Hearers(p protocol.Path) []protocol.Name {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard[reached{path: p}])
}

// Woken reports whether the program of a session took the bell for a message (R69). Only the word of
// its own host counts.
func (l *Live) Woken(host, agent protocol.Name, p protocol.Path) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, woken := slices.BinarySearch(l.heard[reached{agent, p}], host)
	return woken
}

// say takes in what the sessions of a host wait for, and tells what is new. The caller holds mu.
func (l *Live) say(host protocol.Name, waits map[string]protocol.Waits) {
	was := l.waits[host]
	l.waits[host] = waits
	tells := func(w protocol.Waits) bool { return w.For != "" && w.For != protocol.WaitsForTurn } // that is no event
	for agent, w := range waits {
		if was[agent] != w && tells(w) {
			l.to.Session(host, protocol.Name(agent), control.SessionWaits)
		}
	}
	for agent, w := range was {
		if tells(w) && !tells(waits[agent]) {
			l.to.Session(host, protocol.Name(agent), control.SessionGoesOn)
		}
	}
}

// Say is say for this host itself.
func (l *Live) Say(own protocol.Name, waits map[string]protocol.Waits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.say(own, waits)
}

// WaitsOf is what a session waits for, as its host said last; nil for nothing, and if that host is gone.
func (l *Live) WaitsOf(host protocol.Name, agent string) *protocol.Waits {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, waits := l.waits[host][agent]
	if p, other := l.presence[host]; !waits || other && !l.lasts(p) {
		return nil
	}
	return &w
}

// HeardLater gathers messages to acknowledge, and has them published together a moment later.
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

// RoundTrip is the last round trip to a host that was measured since the host came; 0 if there is
// none.
func (l *Live) RoundTrip(host protocol.Name) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.measured[host]
}

package presence

import (
	"slices"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

// What a host that has just joined says on the bus is refused by hosts that do not know its key
// yet. Once they know the key, they ask that host to say again that it is there. It would do so
// anyway, some seconds later.

// Missed notes a host that has joined and was not heard. This host then asks it to say that it is
// there.
func (pr *Presence) Missed(it *fleet.Item) {
	if it.Act != protocol.ActHostJoin || it.Host == pr.o.Host {
		return
	}
	if pr.o.Live.miss(it.Host) {
		wait.Nudge(pr.greet)
	}
}

// wanted has this host say that it is there, if another host wants to hear it.
func (pr *Presence) wanted(p bus.Presence) {
	if slices.Contains(p.Wants, pr.o.Host) {
		wait.Nudge(pr.greet)
	}
}

// miss notes a host that is not known to be there, and reports whether it is to be asked.
func (l *Live) miss(host protocol.Name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lasts(l.presence[host]) || len(l.missing) >= bus.MaxWants {
		return false
	}
	l.missing = append(l.missing, host)
	return true
}

// takeMissing returns the hosts to ask for, each once.
func (l *Live) takeMissing() []protocol.Name {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := l.missing
	l.missing = nil
	return missing
}

package presence

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

// relinkTime is how long a host has after its link has ended: for the link to be made anew, or for
// the host to be heard in another way. After that, the host is looked for.
const relinkTime = 1500 * time.Millisecond

// Unlinked takes in that the last link to a host has ended; if `host` is "", the connection to an
// existing NATS system. A moment later, the host is asked whether it is still there. A node that
// was killed says nothing any more: it is shown as away then, and not only when its last word is 15
// s old. If no link is left, none of the other hosts can be heard either. Hosts that heard it
// through this host are told.
func (pr *Presence) Unlinked(host protocol.Name) {
	ended := pr.o.Now()
	pr.o.Asker.aside(func(ctx context.Context) {
		if wait.Sleep(ctx, relinkTime) {
			pr.LookFor(ctx, host, ended)
		}
	})
}

// LookFor notes which hosts cannot be reached any more since the last link to a host ended.
func (pr *Presence) LookFor(ctx context.Context, host protocol.Name, ended time.Time) {
	switch {
	case pr.o.Live.heardSince(host, ended):
		return
	case !pr.hasLink():
		pr.o.Live.gone(ended, "")
	case host != "" && !pr.o.Asker.answers(ctx, host):
		pr.o.Live.gone(ended, host)
		pr.o.Live.lose(host)
		wait.Nudge(pr.greet)
	}
	pr.turned()
}

// lostBehind asks the hosts that another host cannot reach any more whether they are there, each
// only every few seconds. What a host says of others is only a reason to look.
func (pr *Presence) lostBehind(p bus.Presence) {
	for _, host := range p.Lost {
		if host == pr.o.Host || !pr.o.Live.mayLookFor(host) {
			continue
		}
		pr.o.Asker.aside(func(ctx context.Context) {
			if ended := pr.o.Now(); !pr.o.Asker.answers(ctx, host) {
				pr.o.Live.gone(ended, host)
				pr.turned()
			}
		})
	}
}

func (l *Live) heardSince(host protocol.Name, then time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.presence[host].Seen.After(then)
}

// lose notes a host that cannot be reached any more, so that the others are told once.
func (l *Live) lose(host protocol.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lost) < bus.MaxWants {
		l.lost = append(l.lost, host)
	}
}

// takeLost returns the hosts that the others are to be told of.
func (l *Live) takeLost() []protocol.Name {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.lost
	l.lost = nil
	return lost
}

// mayLookFor reports whether a host counts as connected and may be asked whether it is there. It
// notes that the host is asked.
func (l *Live) mayLookFor(host protocol.Name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if last, asked := l.looked[host]; !l.lasts(l.presence[host]) || asked && now.Sub(last).Abs() < every {
		return false
	}
	l.looked[host] = now
	return true
}

// gone notes that a host cannot be reached any more, unless it has said since `then` that it is
// there. If `host` is "", that holds for every host.
func (l *Live) gone(then time.Time, host protocol.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, p := range l.presence {
		if (host == "" || name == host) && !p.Seen.After(then) {
			p.Live = false
			l.presence[name] = p
		}
	}
	l.change.Tell()
}

package presence

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

// relinkTime is how long a link that has ended may take to be made anew, or its host to
// be heard another way, before that host is looked for.
const relinkTime = 1500 * time.Millisecond

// Unlinked is the bus's news that the last link to a host has ended, or with "" the
// connection to an existing NATS system. A moment later the host is asked whether it is
// still there. A node that was killed says nothing any more, and is shown as away then,
// not only when its last word is 15 s old. Where no link is left, none of the others can
// be heard either. Who heard it through this host is told.
func (pr *Presence) Unlinked(host protocol.Name) {
	ended := pr.o.Now()
	pr.o.Asker.aside(func(ctx context.Context) {
		if wait.Sleep(ctx, relinkTime) {
			pr.LookFor(ctx, host, ended)
		}
	})
}

// LookFor notes who cannot be reached any more since the last link to a host ended.
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

// lostBehind asks the hosts that another one can reach no more whether they are there,
// each now and then. What a host says of others is no more than a reason to look.
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

// heardSince reports whether a host has said since then that it is there.
func (l *Live) heardSince(host protocol.Name, then time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.presence[host].Seen.After(then)
}

// lose notes a host that can be reached no more, to be told once.
func (l *Live) lose(host protocol.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lost) < bus.MaxWants {
		l.lost = append(l.lost, host)
	}
}

// takeLost are the hosts to be told of.
func (l *Live) takeLost() []protocol.Name {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.lost
	l.lost = nil
	return lost
}

// mayLookFor reports whether a host counts as connected and may be asked whether it is,
// and notes that it was.
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

// gone notes that a host, or with "" every host, cannot be reached any more, as far as
// it has not said since then that it is there.
func (l *Live) gone(then time.Time, host protocol.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, p := range l.presence {
		if (host == "" || name == host) && !p.Seen.After(then) {
			p.Live = false
			l.presence[name] = p
		}
	}
	l.signal()
}

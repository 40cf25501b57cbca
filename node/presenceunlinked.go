package node

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

// unlinked is the bus's news that the last link to a host has ended, or with "" the
// connection to an existing NATS system. A moment later the host is asked whether it is
// still there: a node that was killed says nothing any more, and is shown as away then,
// not only when its last word is 15 s old. Where no link is left, none of the others can
// be heard either. Who heard it through this host is told.
func (pr *presence) unlinked(host protocol.Name) {
	ended := pr.now()
	pr.asker.aside(func(ctx context.Context) {
		if wait.Sleep(ctx, relinkTime) {
			pr.lookFor(ctx, host, ended)
		}
	})
}

// lookFor notes who cannot be reached any more since the last link to a host ended.
func (pr *presence) lookFor(ctx context.Context, host protocol.Name, ended time.Time) {
	switch {
	case pr.live.heardSince(host, ended):
		return
	case !pr.hasLink():
		pr.live.gone(ended, "")
	case host != "" && !pr.asker.answers(ctx, host):
		pr.live.gone(ended, host)
		pr.live.lose(host)
		wait.Nudge(pr.greet)
	}
	pr.takePlace()
}

// lostBehind asks the hosts that another one can reach no more whether they are there,
// each now and then: what a host says of others is no more than a reason to look.
func (pr *presence) lostBehind(p bus.Presence) {
	for _, host := range p.Lost {
		if host == pr.host || !pr.live.mayLookFor(host) {
			continue
		}
		pr.asker.aside(func(ctx context.Context) {
			if ended := pr.now(); !pr.asker.answers(ctx, host) {
				pr.live.gone(ended, host)
				pr.takePlace()
			}
		})
	}
}

// heardSince reports whether a host has said since then that it is there.
func (l *live) heardSince(host protocol.Name, then time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.presence[host].Seen.After(then)
}

// lose notes a host that can be reached no more, to be told once.
func (l *live) lose(host protocol.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lost) < bus.MaxWants {
		l.lost = append(l.lost, host)
	}
}

// takeLost are the hosts to be told of.
func (l *live) takeLost() []protocol.Name {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.lost
	l.lost = nil
	return lost
}

// mayLookFor reports whether a host counts as connected and may be asked whether it is,
// and notes that it was.
func (l *live) mayLookFor(host protocol.Name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if last, asked := l.looked[host]; !l.lasts(l.presence[host]) || asked && now.Sub(last).Abs() < presenceEvery {
		return false
	}
	l.looked[host] = now
	return true
}

// gone notes that a host, or with "" every host, cannot be reached any more, as far as
// it has not said since then that it is there.
func (l *live) gone(then time.Time, host protocol.Name) {
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

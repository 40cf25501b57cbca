package node

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// relinkTime is how long a link that has ended may take to be made anew, or its host to
// be heard another way, before that host is looked for.
const relinkTime = 1500 * time.Millisecond

// unlinked is the bus's news that the last link to a host has ended. A moment later
// the host is asked whether it is still there: a node that was killed says nothing any
// more, and is shown as away then, not only when its last word is 15 s old. Where no
// link is left, none of the others can be heard either.
func (n *Node) unlinked(host protocol.Name) {
	ended := n.now()
	n.aside(func(ctx context.Context) {
		if sleep(ctx, relinkTime); ctx.Err() == nil {
			n.lookFor(ctx, host, ended)
		}
	})
}

// lookFor notes who cannot be reached any more since the last link to a host ended.
func (n *Node) lookFor(ctx context.Context, host protocol.Name, ended time.Time) {
	switch {
	case n.live.heardSince(host, ended):
		return
	case !n.hasLink():
		n.live.gone(ended, "")
	case !n.answers(ctx, host):
		n.live.gone(ended, host)
	}
	n.takePlace()
}

// answers reports whether a host answers now.
func (n *Node) answers(ctx context.Context, host protocol.Name) bool {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	_, err := n.ping(ctx, host)
	return err == nil || hasAnswered(err)
}

// heardSince reports whether a host has said since then that it is there.
func (l *live) heardSince(host protocol.Name, then time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.presence[host].Seen.After(then)
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

package bus

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

const (
	linksIdle  = time.Second           // time between two looks at the links
	linksEager = 10 * time.Millisecond // the same while a link is coming up
	eagerFor   = 3 * time.Second       // for this long after something has happened to a link

	// quietFor is how long a link may be missing before that is worth a warning. A host that has
	// just joined is refused until the others have its key.
	quietFor = 5 * time.Second
)

const halfUp = "connected, but the peer does not hear the fleet's subjects yet"

// links watches the links to other servers. A letter reaches a peer only when the peer's
// subscriptions have arrived, and the server has no event for that. So it has to be looked for:
// often while something happens, else once a second.
type links struct {
	bus  *Bus
	wake chan struct{} // holds one token if something has happened

	mu    sync.Mutex // guards the fields below
	known map[uint64]Link
	told  bool      // it was logged that no hub is linked, since the last one was
	down  time.Time // since when no hub is linked
}

// failed logs once, after a while, why no hub is linked.
func (l *links) failed() {
	l.mu.Lock()
	down, tell, linked := l.down, !l.told && l.bus.opts.Now().Sub(l.down) >= quietFor, len(l.known) > 0
	l.mu.Unlock()
	if !tell {
		return
	}
	for _, link := range l.missing(down, linked) {
		l.mu.Lock()
		l.told = true
		l.mu.Unlock()
		l.bus.opts.Log.Warn().Str("hub", link.Peer).Str("problem", link.Problem).Msg("no hub is linked; dialling goes on")
	}
}

func (l *links) poke() { wait.Nudge(l.wake) }

// watch tells when links have come up, until the bus closes.
func (l *links) watch() {
	timer := time.NewTimer(linksEager)
	defer timer.Stop()
	eager := time.Now().Add(eagerFor)
	for {
		select {
		case <-l.bus.ctx.Done():
			return
		case <-l.wake:
			eager = time.Now().Add(eagerFor)
		case <-timer.C:
		}
		l.look()
		if time.Now().Before(eager) {
			timer.Reset(linksEager)
		} else {
			timer.Reset(linksIdle)
		}
	}
}

// look compares the server's links with the known ones, and tells when one has come up. Several
// goroutines may call it. It asks the server under the lock. Otherwise one caller could ask before
// a link ends, and write that link down as new after another caller has noted its end.
func (l *links) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	z, err := l.bus.server.Leafz(&server.LeafzOptions{Subscriptions: true})
	if err != nil {
		return
	}
	now := l.bus.opts.Now()
	came, known := false, make(map[uint64]Link, len(z.Leafs))
	for _, leaf := range z.Leafs {
		link := l.read(leaf, now)
		if link.Up && !l.known[leaf.ID].Up {
			came = true
			l.bus.opts.Log.Info().Str("peer", link.Peer).Bool("out", link.Out).Msg("a link is up")
		}
		known[leaf.ID] = link
	}
	l.lost(known, now)
	l.known = known
	if came {
		l.bus.queue.linked()
	}
}

// lost notes which of the known links are not among those in `there`. The caller holds l.mu.
func (l *links) lost(there map[uint64]Link, now time.Time) {
	for id, link := range l.known {
		if _, ok := there[id]; ok {
			continue
		}
		l.bus.opts.Log.Info().Str("peer", link.Peer).Bool("out", link.Out).Msg("a link is down")
		if link.Out {
			l.down, l.told = now, false
		}
		if link.Host != "" && !slices.ContainsFunc(slices.Collect(maps.Values(there)), func(other Link) bool { return other.Host == link.Host }) {
			l.bus.queue.unlinked(link.Host)
		}
	}
}

// read is what the server tells about one link, and since when that holds. The caller holds l.mu.
func (l *links) read(leaf *server.LeafInfo, now time.Time) Link {
	link := Link{Peer: leaf.Name, Out: leaf.IsSpoke, Since: now}
	link.Host, link.Address = l.peerOf(leaf)
	before, known := l.known[leaf.ID]
	if known && link.Host == "" { // the link is ending, and the server does not know it yet
		link.Host, link.Address = before.Host, before.Address
	}
	if link.Peer == "" {
		link.Peer = hostAt(link.Host, link.Address)
	}
	link.RTT, _ = time.ParseDuration(leaf.RTT)
	link.Up = slices.Contains(leaf.Subs, l.bus.subjects.All())
	if !link.Up {
		link.HalfUp, link.Problem = true, halfUp
	}
	if known && before.Up == link.Up {
		link.Since = before.Since
	}
	link.Young = link.young(now)
	return link
}

// young reports whether a link that is not up may still be coming up, as links do for a moment.
// That is no trouble yet.
func (l Link) young(now time.Time) bool { return !l.Up && now.Sub(l.Since) < quietFor }

// peerOf is the host at the other end of a link, whose key was proved, and its address.
func (l *links) peerOf(leaf *server.LeafInfo) (protocol.Name, string) {
	if leaf.IsSpoke {
		if o := l.bus.tree.dialled(); o != nil {
			return o.host, o.address
		}
		return "", ""
	}
	if in := l.bus.entrance.at(net.JoinHostPort(leaf.IP, strconv.Itoa(leaf.Port))); in != nil {
		return in.host, in.address
	}
	return "", ""
}

func (l *links) list() []Link {
	l.look()
	l.mu.Lock()
	list, down := slices.Collect(maps.Values(l.known)), l.down
	l.mu.Unlock()
	if !slices.ContainsFunc(list, func(k Link) bool { return k.Out }) {
		list = append(list, l.missing(down, len(list) > 0)...)
	}
	slices.SortFunc(list, func(a, b Link) int { return cmp.Compare(a.Peer, b.Peer) })
	return list
}

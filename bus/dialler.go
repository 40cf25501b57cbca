package bus

import (
	"bytes"
	"context"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/parleyfleet/parley/internal/wait"
)

const (
	minBackoff = 250 * time.Millisecond
	maxBackoff = 3 * time.Second

	// joinBackoff bounds the pauses of a host whose key is not known yet, during the first joinFor
	// of its bus.
	joinBackoff = 500 * time.Millisecond
	joinFor     = 20 * time.Second
	stagger     = 250 * time.Millisecond // time between the beginnings of two dials of one round
	shortLink   = 5 * time.Second        // a link that was shorter is no success
	// holdFor is how long the server waits for the greeting of a hub. It comes when there is a hub,
	// so this is practically for ever.
	holdFor = 10 * 365 * 24 * time.Hour
)

// dialler dials hubs for the embedded server. The server has one leaf remote, which never changes:
// the dialler's own port on the loopback. For each connection that the server makes there, the
// dialler finds a hub, makes both ends prove their keys to each other, and passes bytes. So hubs
// and keys may change while everything runs, each dial is pinned to a key, and it is known why a
// dial fails. There is at most one outgoing link.
type dialler struct {
	bus     *Bus
	tree    *tree
	door    *door
	poked   chan struct{} // holds one token if another attempt is worthwhile
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	passing tally // the link that exists
	began   time.Time
	turn    sync.Mutex // held by the one connection that is being served

	mu      sync.Mutex           // guards the fields below
	end     context.CancelFunc   // ends the connection that is being served; nil for none
	worked  map[string]time.Time // addresses at which a hub was last linked, and when
	failed  []*DialError         // what the last round of dials met
	backoff time.Duration
}

func newDialler(b *Bus) (*dialler, error) {
	d := &dialler{bus: b, tree: b.tree, poked: make(chan struct{}, 1), began: time.Now(), worked: map[string]time.Time{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	var err error
	if d.door, err = openDoor(d.ctx); err != nil {
		return nil, err
	}
	b.teardown.push("end of the dialler", d.close)
	d.work.Go(func() { d.door.serve(d.ctx, &d.work, d.serve) })
	if b.opts.Heard != nil {
		d.work.Go(d.rejoinAlways)
	}
	return d, nil
}

// close ends the dialler. Call it after the server was ended, so that the server's last words still
// pass.
func (d *dialler) close() error {
	d.passing.wait(lingerFor)
	d.cancel()
	d.work.Wait()
	return nil
}

func (d *dialler) remote() *server.RemoteLeafOpts {
	at := d.door.listener.Addr().String()
	remote := &server.RemoteLeafOpts{
		URLs:                    []*url.URL{{Scheme: "nats-leaf", Host: at}},
		NoRandomize:             true,
		IgnoreDiscoveredServers: true,
		DialTimeout:             dialTimeout,
		FirstInfoTimeout:        holdFor,
	}
	remote.Proxy.URL = "http://" + at
	remote.Proxy.Username, remote.Proxy.Password = doorUser, d.door.secret
	remote.Compression.Mode = server.CompressionOff
	return remote
}

func (d *dialler) poke() { wait.Nudge(d.poked) }

// drop ends the existing link, so that it is made anew.
func (d *dialler) drop() {
	if o := d.tree.dialled(); o != nil {
		o.end()
	}
	d.poke()
}

// serve finds a hub for a connection of the server, and passes bytes until one of the two ends. A
// newer connection means that the server has given up the older one.
func (d *dialler) serve(conn net.Conn) {
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	d.mu.Lock()
	if d.end != nil {
		d.end()
	}
	d.end = cancel
	d.mu.Unlock()
	d.turn.Lock()
	defer d.turn.Unlock()
	hub, err := d.find(ctx, cancel)
	if err != nil {
		return
	}
	began := time.Now()
	d.bus.links.poke()
	d.passing.Add(1)
	d.pass(ctx, conn, hub)
	d.passing.Add(-1)
	d.ended(hub, time.Since(began))
}

// pass carries the bytes of a link to a hub, beginning with those that have come already.
func (d *dialler) pass(ctx context.Context, conn net.Conn, hub *knocked) {
	if !hub.takes {
		pass(ctx, conn, newUnmarked(hub.conn, io.MultiReader(bytes.NewReader(hub.greets), hub.conn)))
		return
	}
	if _, err := conn.Write(hub.greets); err == nil {
		pass(ctx, conn, hub.conn)
	} else {
		_ = hub.conn.Close()
	}
}

// ended notes how long the link to a hub has lasted.
func (d *dialler) ended(hub *knocked, lasted time.Duration) {
	d.tree.lost(time.Now())
	d.mu.Lock()
	if lasted >= shortLink {
		d.backoff = 0
	} else {
		delete(d.worked, hub.address)
	}
	d.failed = []*DialError{{Host: hub.host, Address: hub.address, Cause: CauseRoute, Reason: "the connection was lost"}}
	d.mu.Unlock()
	d.bus.links.poke()
}

// find dials until a hub is linked or `ctx` ends. `end` ends what the caller makes of the hub.
func (d *dialler) find(ctx context.Context, end context.CancelFunc) (*knocked, error) {
	for {
		dialling, done, err := d.tree.begin(ctx)
		if err != nil {
			return nil, err
		}
		hub, failed := d.round(dialling)
		done()
		if hub != nil && d.tree.commit(&outlink{host: hub.host, key: hub.key, address: hub.address, end: end}) {
			d.linked(hub)
			if alias, counts := d.bus.opts.Trusted(hub.key); !counts || alias != hub.host {
				end() // its key was revoked after it was judged, when Recheck could not see the link yet
			}
			if hub.takes != d.bus.takesLinks() {
				end() // the links port was opened meanwhile, when OpenLinks could not see the link yet
			}
			return hub, nil
		}
		if hub != nil {
			_ = hub.conn.Close() // in the meantime this host has taken a link up
		}
		if err := d.rest(ctx, failed); err != nil {
			return nil, err
		}
	}
}

func (d *dialler) linked(hub *knocked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.worked) > maxWorked {
		clear(d.worked)
	}
	d.worked[hub.address] = time.Now()
	d.failed = nil
}

const maxWorked = 1024

// rest waits until it is time for the next round.
func (d *dialler) rest(ctx context.Context, failed []*DialError) error {
	d.mu.Lock()
	d.failed = failed
	d.backoff = longer(d.backoff, failed, time.Since(d.began))
	wait := d.backoff/2 + mathrand.N(d.backoff)
	d.mu.Unlock()
	d.bus.links.failed()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-d.poked:
		d.mu.Lock()
		d.backoff = 0
		d.mu.Unlock()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// longer is the pause that follows `pause`. The actual wait is half to one and a half times as
// long. A host that has just joined is refused until the others have fetched its key, which takes
// them two seconds. So for a while it asks again soon.
func longer(pause time.Duration, failed []*DialError, age time.Duration) time.Duration {
	most := maxBackoff
	if age < joinFor && slices.ContainsFunc(failed, func(e *DialError) bool { return e.Cause == CauseKey }) {
		most = joinBackoff
	}
	return min(max(2*pause, minBackoff), most)
}

// problems say why the last round has linked nobody.
func (d *dialler) problems() []*DialError {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

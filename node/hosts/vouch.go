package hosts

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// vouchSettle is how long a host waits at first, so that it has heard which hosts are there.
	// Only the most senior host of all does not wait. vouchGrace is how much longer it waits for
	// each live host that is senior to it.
	vouchSettle = 2 * time.Second
	vouchGrace  = 10 * time.Second
	// keysLook is the longest time between two looks at what is to be done about keys.
	keysLook = time.Minute
)

// keyWork is what a node does about the history of keys. It vouches for the keys of hosts that it
// sees first (DESIGN section 6). It makes the bus look again which hosts may be there.
type keyWork struct {
	*Options
	hubs *hubs

	moved chan struct{} // holds a token when a host act was taken in

	mu   sync.Mutex // guards what follows
	seen map[place]sight
	said map[protocol.HostKey]bool // keys for which this node has vouched since its start, or is about to vouch
}

// place is where a key may stand in a history: as the first key of a host, or after another key.
type place struct {
	host  protocol.Name
	after string
}

// sight is the key that this node saw first at a place, and when it saw that key.
type sight struct {
	key string
	at  time.Time
}

// Start tends the keys until `stop` is called. That ends before the bus.
func (k *keyWork) Start() (stop func()) { return wait.Background(k.tend) }

func (k *keyWork) tend(ctx context.Context) {
	for {
		again, ends := k.Vouch(ctx), k.nextEnd()
		k.Heed(ctx)
		timer := time.NewTimer(min(again, ends))
		select {
		case <-k.moved:
		case <-timer.C:
			if ends <= again {
				wait.Nudge(k.hubs.moved) // a host that showed the old key must show its new one
			}
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// nextEnd is how long it is until an old key of a host counts no more, but at most keysLook.
func (k *keyWork) nextEnd() time.Duration {
	var at time.Time
	var ok bool
	now := k.Now()
	k.Folded(func(s *fleet.State) { at, ok = s.Keys().NextKeyEnd(now) })
	if ok {
		return min(keysLook, at.Sub(now)+time.Millisecond)
	}
	return keysLook
}

// Vouch has this host vouch for the keys for which it has the turn, and returns how long to wait
// before the next look.
func (k *keyWork) Vouch(ctx context.Context) time.Duration {
	var claims []keys.Claim
	var seniors []protocol.Name
	k.Folded(func(s *fleet.State) {
		claims, seniors = s.Keys().Unvouched(k.Config.Alias), s.Keys().Seniors(k.Config.Alias)
	})
	due, next := k.due(claims, k.turn(seniors), k.Now())
	if len(due) == 0 {
		return next
	}
	if err := k.Decider.Say(ctx, fleet.Vouch{Host: k.Config.Alias, Knows: due}); err != nil && ctx.Err() == nil {
		k.unsaid(due)
		k.Log.Warn().Err(err).Msg("cannot vouch for the keys of other hosts; it is tried again")
		return vouchGrace
	}
	return next
}

// turn is for how long this host leaves the vouching to hosts that are senior to it. The most
// senior host of all does not wait.
func (k *keyWork) turn(seniors []protocol.Name) time.Duration {
	if len(seniors) == 0 {
		return 0
	}
	wait := vouchSettle
	for _, host := range seniors {
		if _, live := k.Live.PresenceOf(host); live {
			wait += vouchGrace
		}
	}
	return wait
}

// due returns the keys that have waited for the time `turn`, each of them the first one seen at its
// place. `next` is how long it takes until there may be more.
func (k *keyWork) due(claims []keys.Claim, turn time.Duration, now time.Time) (due []protocol.HostKey, next time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	open := map[place]sight{}
	next = keysLook
	for _, c := range claims {
		at := place{c.Host, c.After}
		first, known := k.seen[at]
		if !known {
			first = sight{c.Key, now}
		}
		open[at] = first
		if left := turn - now.Sub(first.at); left > 0 {
			next = min(next, left)
		} else if key, ok := k.toSay(c, first.key); ok {
			due = append(due, key)
		}
	}
	k.seen = open // what others have vouched for need not be waited for
	return due, next
}

// toSay returns the key to vouch for at a claimed place. That is the key that was seen first. If
// this node has vouched for that key already and it does not count, it is the key that the record
// has. No key is vouched for twice. The caller holds mu.
func (k *keyWork) toSay(c keys.Claim, first string) (protocol.HostKey, bool) {
	for _, key := range []string{first, c.Key} {
		if said := (protocol.HostKey{Host: c.Host, Key: key}); !k.said[said] {
			k.said[said] = true
			return said, true
		}
	}
	return protocol.HostKey{}, false
}

// unsaid takes back the note that keys were vouched for, because that could not be stored.
func (k *keyWork) unsaid(keys []protocol.HostKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range keys {
		delete(k.said, key)
	}
}

package bus

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

const (
	// A host dials nobody while it has taken a link up. rejoinEvery is how often it looks whether
	// that keeps it from other hosts. rejoinFor is how long it then takes no link up.
	rejoinEvery = 10 * time.Second
	rejoinFor   = 5 * time.Second
	// rejoinRest is how long a hub that was dialled for this reason is no reason to do it again.
	rejoinRest = 10 * time.Minute
	// rejoinLooks is how many addresses are tried each time.
	rejoinLooks = 16
)

// rejoin protects a host from being cut off by somebody who means it ill and makes a link up to it.
// The host that makes such a link says that it takes links itself, and is believed: there is no way
// to know, because others may reach it even if this host does not. While a link up lasts, this host
// dials nobody. If the hosts before it in the alphabet cannot dial it either, they never meet.
//
// So it looks whether a hub that it would dial answers and is not heard on the bus. Then that hub
// is in another tree. If the same hub does so twice in a row, the links up are ended, no link up is
// taken for a while, and the hub is dialled. While a host has a link of its own, it refuses links
// up anyway. So it never has both (see tree).
type rejoin struct {
	apart map[protocol.Name]bool      // hubs that answered at the last look and are not heard
	done  map[protocol.Name]time.Time // hubs that were a reason to end links up, and when
}

func (d *dialler) rejoinAlways() {
	tick := time.NewTicker(rejoinEvery)
	defer tick.Stop()
	t := &rejoin{done: map[protocol.Name]time.Time{}}
	for {
		select {
		case <-tick.C:
			d.look(t, time.Now())
		case <-d.ctx.Done():
			return
		}
	}
}

// look ends the links up if there is a reason for it.
func (d *dialler) look(t *rejoin, now time.Time) {
	before := t.apart
	t.apart = nil
	if !d.tree.linkedUp() {
		return
	}
	t.apart = d.apart()
	again := false
	for hub := range t.apart {
		if before[hub] && now.Sub(t.done[hub]) >= rejoinRest {
			again, t.done[hub] = true, now
		}
	}
	if again {
		d.bus.opts.Log.Warn().Msg("hosts that linked to this one keep it from others that it reaches: their links end, and it dials those")
		ups := d.bus.entrance.ups()
		d.tree.refuseUps(now.Add(rejoinFor), ups)
		for _, in := range ups {
			in.end()
		}
		d.poke()
	}
}

// apart are the hubs that this host would dial, that answer, and that are not heard.
func (d *dialler) apart() map[protocol.Name]bool {
	linked, targets := d.bus.linkedHere(), d.targets(false)
	ctx, cancel := context.WithTimeout(d.ctx, rejoinEvery)
	defer cancel()
	found := map[protocol.Name]bool{}
	for _, t := range targets[:min(len(targets), rejoinLooks)] {
		if linked[t.hub.Alias] || t.hub.Alias != "" && d.bus.opts.Heard(t.hub.Alias) {
			continue
		}
		hub, err := d.bus.knock(ctx, t, true)
		if err != nil {
			continue
		}
		_ = hub.conn.Close()
		if !linked[hub.host] && !d.bus.opts.Heard(hub.host) {
			found[hub.host] = true
		}
	}
	return found
}

// ups are the links up that this host has taken.
func (e *entrance) ups() []*inlink {
	return slices.DeleteFunc(e.links(), func(in *inlink) bool { return !in.up })
}

// refuseUps has no link up taken until that time. Until then, the hosts in `ups` are not dialled.
func (t *tree) refuseUps(until time.Time, ups []*inlink) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refusedUntil, t.refusedFor = until, nil
	for _, in := range ups {
		t.refusedFor = append(t.refusedFor, in.host)
	}
}

// isShut reports whether no link up is taken at the moment.
func (t *tree) isShut(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.refusedUntil)
}

func (t *tree) avoids(host protocol.Name, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.refusedUntil) && slices.Contains(t.refusedFor, host)
}

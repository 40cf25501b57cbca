package bus

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

const (
	// rejoinEvery is how often a host that dials nobody, because it has taken a link up,
	// looks whether that keeps it from others, and rejoinFor how long it then takes none.
	rejoinEvery = 10 * time.Second
	rejoinFor   = 5 * time.Second
	// rejoinRest is how long a hub that it dialled so is not a reason to do it again.
	rejoinRest = 10 * time.Minute
	// rejoinLooks is how many addresses it tries each time.
	rejoinLooks = 16
)

// rejoin keeps a host of bad intent from cutting off others by links up. The host that
// makes such a link says that it takes links itself, and is believed. There is no way to
// know, because others may reach it where this host does not. While it lasts this host
// dials nobody, and where those before it in the alphabet cannot dial it either, they do
// not meet. So it looks whether a hub that it would dial answers and is not heard on the
// bus: that is in another tree. If the same one does so twice in a row, the links up
// end, none is taken for a while, and the hub is dialled: then links up are refused
// anyway. So no host ever has a link up and one of its own (see tree).
type rejoin struct {
	apart map[protocol.Name]bool      // hubs that answered the last look and are not heard
	done  map[protocol.Name]time.Time // hubs that were a reason to end links up, and when
}

// rejoinAlways looks until the dialler ends.
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

// look ends the links up if there is a reason.
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

// ups are the links up that were taken.
func (e *entrance) ups() []*inlink {
	return slices.DeleteFunc(e.links(), func(in *inlink) bool { return !in.up })
}

// refuseUps has no link up taken until then, and the hosts that made those not dialled.
func (t *tree) refuseUps(until time.Time, ups []*inlink) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refusedUntil, t.refusedFor = until, nil
	for _, in := range ups {
		t.refusedFor = append(t.refusedFor, in.host)
	}
}

// isShut reports whether no link up is taken now.
func (t *tree) isShut(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.refusedUntil)
}

// avoids reports whether a host is not dialled now.
func (t *tree) avoids(host protocol.Name, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.refusedUntil) && slices.Contains(t.refusedFor, host)
}

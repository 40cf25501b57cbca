package bus

import (
	"context"
	"errors"
	"slices"
	"time"
)

// sorted are the addresses. Those at which a hub was last linked come first.
func (d *dialler) sorted(addresses []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(addresses)
	slices.SortStableFunc(all, func(x, y string) int { return d.worked[y].Compare(d.worked[x]) })
	return all
}

// round dials all targets, each a moment after the one before it, or as soon as that one has
// failed. The first one that says yes is the hub; the others are given up.
func (d *dialler) round(ctx context.Context) (*knocked, []*DialError) {
	targets := d.targets(d.tree.alone(time.Now()) >= upAfter)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		at  int
		hub *knocked
		err error
	}
	outcomes := make(chan outcome)
	errs := make([]*DialError, len(targets))
	started, running := 0, 0
	start := func() {
		at := started
		started, running = started+1, running+1
		d.work.Go(func() { // ends with its dial, and ctx ends that
			hub, err := d.bus.knock(ctx, targets[at], false)
			outcomes <- outcome{at, hub, err}
		})
	}
	var found *knocked
	for {
		if found == nil && ctx.Err() == nil && started < len(targets) {
			start()
		}
		if running == 0 {
			return found, slices.DeleteFunc(errs, func(e *DialError) bool { return e == nil })
		}
		next := time.NewTimer(stagger)
		select {
		case o := <-outcomes:
			running--
			switch {
			case o.err != nil:
				errors.As(o.err, &errs[o.at])
			case found == nil:
				found = o.hub
				cancel()
			default:
				_ = o.hub.conn.Close()
			}
		case <-next.C:
		}
		next.Stop()
	}
}

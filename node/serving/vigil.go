package serving

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// vigil knows when this host was asleep, and when it did not hear another host. In that time, the
// other host may have taken this one for gone, and may have begun to do its work (R7).
type vigil struct {
	now     func() time.Time
	live    *presence.Live
	started time.Time

	mu     sync.Mutex // guards what follows
	looked time.Time  // when it last looked
	woke   time.Time  // when this host last woke; its start if it has not slept
	heard  map[protocol.Name]time.Time
	wrote  map[protocol.Name]word
	gaps   map[protocol.Name][]gap // times in which a host was not heard; for "", times in which this host slept
}

// word is the last message of a host, and when it was first seen here. That time is zero for what
// was there at the first look.
type word struct {
	path protocol.Path
	came time.Time
}

type gap struct{ from, to time.Time }

const (
	// gapLeast is from what length on a time counts as a gap. It is less than half of the shortest
	// time after which work is taken over.
	gapLeast = 25 * time.Second
	// gapMargin is for how long after a gap other hosts may not know yet that it is over.
	gapMargin = presence.Lasts
	mostGaps  = 32 // gaps that are remembered of each host
	// lookEach is the least time between two looks, because each message that waits asks for one.
	// What was heard since the last look counts as not heard yet, so doubt lasts longer by at most
	// that time.
	lookEach = time.Second
)

func newVigil(now func() time.Time, live *presence.Live, started time.Time) *vigil {
	return &vigil{
		now: now, live: live, started: started, looked: started, woke: started, heard: map[protocol.Name]time.Time{}, wrote: map[protocol.Name]word{},
		gaps: map[protocol.Name][]gap{"": {{to: started}}}, // this host may have been away for long before it was started
	}
}

// look notes what happened since the last look. The wall clock goes on while a machine sleeps.
func (v *vigil) look() {
	if !v.due() {
		return
	}
	present := v.live.Present()
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now().Round(0)
	if v.note("", v.looked, now) {
		v.woke = now
	}
	v.looked = now
	for _, p := range present {
		v.note(p.Host, v.lastHeard(p.Host), p.Seen.Round(0))
		v.heard[p.Host] = p.Seen.Round(0)
	}
}

// keep looks until `ctx` ends. It has a goroutine of its own, because the settling of claims may
// wait for a slow remote. Such a wait is no sleep; and after it, hosts that are gone would count as
// heard.
func (v *vigil) keep(ctx context.Context) {
	ticker := time.NewTicker(claimsLook)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			v.look()
		}
	}
}

func (v *vigil) due() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	since := v.now().Round(0).Sub(v.looked)
	return since < 0 || since >= lookEach
}

// note notes a gap, and reports whether the time is long enough to be one. The caller holds mu.
func (v *vigil) note(host protocol.Name, from, to time.Time) bool {
	if to.Sub(from) < gapLeast {
		return false
	}
	gaps := append(v.gaps[host], gap{from, to})
	v.gaps[host] = gaps[max(0, len(gaps)-mostGaps):]
	return true
}

// lastHeard is when a host was last heard, by the last look; the start of this node if it was not
// heard. The caller holds mu.
func (v *vigil) lastHeard(host protocol.Name) time.Time {
	if at, ok := v.heard[host]; ok {
		return at
	}
	return v.started.Round(0)
}

// missed reports whether, when a message of the time `sent` was sent or later, this host slept for
// longer than `longer` or did not hear the other host for so long. The other host may have been
// silent for any time before this node was started.
func (v *vigil) missed(host protocol.Name, longer time.Duration, sent time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.now().Round(0).Sub(v.heard[host]) > longer {
		return true
	}
	for _, of := range []protocol.Name{"", host} {
		for _, g := range v.gaps[of] {
			if g.to.Sub(g.from) > longer && !sent.After(g.to.Add(gapMargin)) {
				return true
			}
		}
	}
	return false
}

// silent is how long nothing was heard of a host. A new message of it counts from when it came: the
// clocks of hosts differ. It counts at most from when this node was started, or woke.
func (v *vigil) silent(host protocol.Name, wrote protocol.Path) time.Duration {
	seen, live := v.live.PresenceOf(host)
	if live {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now, last := v.now().Round(0), v.lastHeard(host)
	before, known := v.wrote[host]
	switch {
	case !known:
		v.wrote[host] = word{path: wrote}
	case before.path != wrote:
		v.wrote[host] = word{wrote, now}
	}
	for _, at := range []time.Time{v.woke, seen.Seen.Round(0), v.wrote[host].came} {
		if at.After(last) {
			last = at
		}
	}
	return now.Sub(last)
}

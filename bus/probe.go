package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/span"
)

// Probed says how far a dial to one address of a host gets.
type Probed struct {
	Address string
	Cause   Cause  // "" if nothing is wrong; with CauseClock a link works all the same
	Reason  string // for people
	Took    time.Duration
	Clock   time.Duration // its clock minus ours
	Version string        // version of the program there
}

// Works reports whether a link can be made at the address.
func (p Probed) Works() bool { return p.Cause == "" || p.Cause == CauseClock }

// Probe dials each address of a host, all at the same time, up to the point where a link would
// begin. It says how far each gets, and changes no link. It takes 6 s at most, or until `ctx` ends.
func (b *Bus) Probe(ctx context.Context, hub Hub) []Probed {
	all := make([]Probed, len(hub.Addresses))
	var dials sync.WaitGroup
	for i, address := range hub.Addresses {
		dials.Go(func() { all[i] = b.probe(ctx, target{hub, address}) }) // ends with its dial
	}
	dials.Wait()
	return all
}

func (b *Bus) probe(ctx context.Context, t target) Probed {
	p := Probed{Address: t.address}
	k, err := b.knock(ctx, t, true)
	if err != nil {
		var dial *DialError
		errors.As(err, &dial)
		p.Cause, p.Reason = dial.Cause, dial.Reason
		return p
	}
	_ = k.conn.Close()
	p.Took, p.Clock, p.Version = k.took, k.off, k.version
	if p.Reason = offClock(k.off); p.Reason != "" {
		p.Cause = CauseClock
	}
	return p
}

// farClock is how far two clocks may be apart before that is worth telling.
const farClock = 5 * time.Minute

// offClock is what to say about two clocks that differ, or "" if they agree well enough.
func offClock(off time.Duration) string {
	if off.Abs() <= farClock {
		return ""
	}
	way, effect := "ahead of", "links and questions work all the same"
	if off < 0 {
		way = "behind"
	}
	if off.Abs() > letterWindow {
		effect = "links work, but what hosts ask and tell each other live is refused"
	}
	return fmt.Sprintf("its clock is %s %s this host's: %s", span.Text(off.Abs().Round(time.Second)), way, effect)
}

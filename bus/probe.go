package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/span"
)

// Probed is how far a dial to one address of a host gets.
type Probed struct {
	Address string
	Cause   Cause  // "" where nothing is wrong; CauseClock where a link works all the same
	Reason  string // for people
	Took    time.Duration
	Clock   time.Duration // its clock less ours
	Version string        // of the program there
}

// Works reports whether a link can be made at the address.
func (p Probed) Works() bool { return p.Cause == "" || p.Cause == CauseClock }

// Probe dials each address of a host, all at the same time, up to where a link
// would begin, and says how far that gets. It changes no link. It takes 6 s at most,
// or until ctx ends.
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

// farClock is how far two clocks may be apart before it is worth a word.
const farClock = 5 * time.Minute

// offClock is what is to be said of two clocks that differ, "" where they agree well
// enough.
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

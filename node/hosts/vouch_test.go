package hosts

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Many hosts see others join. One host vouches for each of these: the founder, or the most senior
// of the hosts that are there.
func TestManyHostsVouchOnce(t *testing.T) {
	const hosts = 60
	now := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	for name, first := range map[string]int{"the founder is there": 0, "the founder is away": 1, "the first five are away": 5} {
		works := make([]keyWork, hosts)
		for i := range works {
			works[i] = keyWork{said: map[protocol.HostKey]bool{}}
		}
		said, left := 0, []keys.Claim{}
		for i := range 20 {
			left = append(left, keys.Claim{HostKey: protocol.HostKey{Host: protocol.Name(fmt.Sprintf("new%d", i)), Key: "K"}})
		}
		for at := now; at.Sub(now) < time.Minute; at = at.Add(time.Second) {
			for rank := first; rank < hosts; rank++ {
				turn := time.Duration(0)
				if rank > 0 {
					turn = vouchSettle + time.Duration(rank-first)*vouchGrace
				}
				due, _ := works[rank].due(left, turn, at)
				if len(due) > 0 {
					said++
					left = slices.DeleteFunc(left, func(c keys.Claim) bool { return slices.Contains(due, c.HostKey) })
				}
			}
		}
		if said != 1 || len(left) > 0 {
			t.Errorf("%s: %d messages vouch, and %d hosts are left; want one message for all", name, said, len(left))
		}
	}
}

// A node vouches for what it saw first, even if the record says otherwise by then, and says nothing
// twice.
func TestWhatWasSeenFirstIsVouchedFor(t *testing.T) {
	k, now := keyWork{said: map[protocol.HostKey]bool{}}, time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	claim := func(key string) []keys.Claim {
		return []keys.Claim{{HostKey: protocol.HostKey{Host: "white", Key: key}}}
	}
	if due, next := k.due(claim("honest"), time.Second, now); len(due) != 0 || next != time.Second {
		t.Fatalf("at once: %v, again after %s", due, next)
	}
	for _, want := range []string{"honest", "stolen", ""} {
		due, _ := k.due(claim("stolen"), time.Second, now.Add(2*time.Second))
		if got := ""; len(due) > 0 {
			got = due[0].Key
			if got != want {
				t.Errorf("vouched for %q, want %q", got, want)
			}
		} else if want != "" {
			t.Errorf("vouched for nothing, want %q", want)
		}
	}
}

package inquiry

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// lookAround is how often this host looks whether the host of a member is lost. lostAfter is for how
// long a lost host has not been heard.
const (
	lookAround = 5 * time.Second
	lostAfter  = 30 * time.Second
)

// lookForLost asks humans about members whose hosts are lost (R49). A host that was never heard
// since this node started does not count as lost: perhaps git alone brings what it says.
func (q *Inquiries) lookForLost(ctx context.Context) {
	q.mu.Lock()
	live := maps.Clone(q.live)
	q.mu.Unlock()
	for channel, g := range live {
		v := q.known.value(channel)
		if v.Coordinator.Host != q.Host.String() || v.Open() != nil {
			continue // one gate at a time
		}
		m := q.lostMember(v, g.asked)
		if m == nil {
			continue
		}
		command := q.Pool.actor(v.Coordinator.Name).Ask(channel, protocol.GateLost, m.Perspective, nil)
		if _, err := q.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(v.Coordinator.Name), Because: v.Path}, command); err != nil {
			q.Log.Warn().Err(err).Str("inquiry", id8(channel)).Msg("nobody could be asked about a host that is lost")
			continue // the next look tries it again; else the member would be waited for forever
		}
		g.asked[runOf(m)] = true
	}
}

// lostMember returns a member whose host is lost while something of the member is waited for, and
// about which nobody was asked yet. It returns nil if there is none. It removes runs from `asked`
// whose hosts are back: if such a host is lost again, somebody is asked again.
func (q *Inquiries) lostMember(v inquiries.Inquiry, asked map[string]bool) *inquiries.Member {
	for _, m := range v.Members {
		if !v.Awaits(m) || m.Agent.Host == q.Host.String() {
			continue
		}
		last, live := q.Seen(protocol.Name(m.Agent.Host))
		if live {
			delete(asked, runOf(m))
		} else if !last.IsZero() && q.Now().Sub(last) >= lostAfter && !asked[runOf(m)] {
			return m
		}
	}
	return nil
}

func runOf(m *inquiries.Member) string { return fmt.Sprint(m.Perspective, " ", m.Attempt) }

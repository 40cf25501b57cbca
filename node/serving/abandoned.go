package serving

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

// abandonment is work that another host has claimed and, as far as is known here, does not do. Only
// that host knows whether it was begun, so only a person's word ends it (R7).
type abandonment struct {
	work
	host  protocol.Name // the host that says that it has the work; "" if the host with the claim does not say it
	since time.Time     // since when: when it said so or, if it has not, when it was first known here that somebody has the work
}

func (a abandonment) problem(now time.Time) string {
	if a.host != "" {
		return a.host.String() + " has claimed it and not answered"
	}
	return fmt.Sprintf("another host has claimed it at the remote and has said nothing of it for %s", span.Text(now.Sub(a.since).Truncate(time.Minute)))
}

// abandoned is the work for agents of this host that other hosts have claimed and do not do, the
// oldest message first. The claiming host is gone, or has not said for takeover_after that it has
// the work.
func (c *claims) abandoned() []abandonment {
	after := map[string]time.Duration{}
	for _, a := range c.Roster.All() {
		after[a.Name.String()] = max(cmp.Or(a.TakeoverAfter, protocol.DefaultTakeover), lostLong)
	}
	now := c.Now()
	c.mu.Lock()
	all := slices.Clone(c.left)
	for w, at := range c.works {
		if patience, served := after[w.agent]; served && at.lost && now.Sub(at.since) >= patience {
			all = append(all, abandonment{work: w, since: at.since})
		}
	}
	c.mu.Unlock()
	c.Folded(func(s *fleet.State) {
		all = slices.DeleteFunc(all, func(a abandonment) bool { return !c.isAbandoned(s, a) })
	})
	slices.SortFunc(all, func(a, b abandonment) int { return cmp.Or(a.path.Compare(b.path), cmp.Compare(a.agent, b.agent)) })
	return all
}

// isAbandoned reports whether the record still says of the work only what it said before. It is
// asked while the state is read.
func (c *claims) isAbandoned(s *fleet.State, a abandonment) bool {
	if a.host == "" {
		return c.unsaid(s, a.work)
	}
	it, there := s.Ledger.Item(a.path)
	run := s.Run(a.path, a.agent)
	return there && run.Retries == a.epoch && run.Dead == nil && run.Claim != nil && run.Claim.Host == a.host &&
		!s.Talk.ReadBy(it, fleet.Who{Name: a.agent, Host: c.Host})
}

// leave notes what hosts that are gone have claimed and not done.
func (c *claims) leave(all []abandonment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = all
}

// claimedBy is the work that a host which is gone has claimed, as the record says.
func claimedBy(run affairs.Run) abandonment {
	return abandonment{work: work{run.Message, run.Agent, run.Retries}, host: run.Claim.Host, since: run.Claim.Time}
}

// unservedClaims are the messages that an agent of this host would have to handle, if a host that
// no longer serves it had not claimed them. It is asked while the state is read.
func (c *claims) unservedClaims(s *fleet.State, who fleet.Who, a configs.Agent) (left []abandonment) {
	for it := range s.Talk.Inbox(who, false) {
		run := s.Run(it.Path, who.Name)
		if run.Claim != nil && run.Claim.Host != c.Host && s.Talk.ClaimDue(it, who) && s.Talk.Handle(it, who, limitsOf(a, c.Config.MaxHops)) == fleet.Run {
			left = append(left, claimedBy(run))
		}
	}
	return left
}

// abandonedWarnings are what status says of abandoned work, one line for each agent.
func (c *claims) abandonedWarnings(of []abandonment) (all []string) {
	count, first := map[string]int{}, map[string]abandonment{}
	for _, a := range of {
		if count[a.agent]++; count[a.agent] == 1 {
			first[a.agent] = a
		}
	}
	for agent, n := range count {
		a, more := first[agent], ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more: parley agent dlq list)", n-1)
		}
		all = append(all, fmt.Sprintf("%s waits for %s: %s; if that host does not come back: parley agent dlq retry %[1]s --agent %[2]s%[4]s",
			a.path, agent, a.problem(c.Now()), more))
	}
	return all
}

package inquiry

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
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

// unheardAfter is for how long nothing has come of an inquiry before a host is told of that was never
// heard since this node started: perhaps git alone brings what it says.
const unheardAfter = 10 * time.Minute

// lookForLost asks humans about members that do not answer: their hosts are lost (R49), or say that
// what they run fails.
func (q *Inquiries) lookForLost(ctx context.Context) {
	q.mu.Lock()
	live := maps.Clone(q.live)
	q.mu.Unlock()
	for channel, g := range live {
		v := q.known.value(channel)
		if v.Coordinator.Host != q.Host.String() || v.Open() != nil {
			continue // one gate at a time
		}
		q.mu.Lock()
		m := q.lostMember(v, g.asked)
		q.mu.Unlock()
		if m == nil {
			continue
		}
		command := q.Pool.actor(v.Coordinator.Name).Ask(channel, protocol.GateLost, m.Perspective, nil)
		if _, err := q.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(v.Coordinator.Name), Because: v.Path}, command); err != nil {
			q.Log.Warn().Err(err).Str("inquiry", id8(channel)).Msg("nobody could be asked about a member that does not answer")
			continue // the next look tries it again; else the member would be waited for forever
		}
		q.mu.Lock()
		g.asked[runOf(v, m)] = q.gone(m.Agent.Host, q.Now()) != ""
		q.mu.Unlock()
	}
}

// lostMember returns a member that does not answer, and about which nobody was asked yet. It returns
// nil if there is none. It removes runs from `asked` whose lost hosts are back: if such a host is lost
// again, somebody is asked again. Nobody is asked again about what failed, was waited for, and fails
// once more: status and the inquiry say that. The caller holds q.mu.
func (q *Inquiries) lostMember(v inquiries.Inquiry, asked map[string]bool) *inquiries.Member {
	for _, m := range v.Members {
		why := q.fault(v, m)
		lost, was := asked[runOf(v, m)]
		if why == "" && lost {
			delete(asked, runOf(v, m))
		} else if why != "" && !was {
			return m
		}
	}
	return nil
}

// runOf is what a human is asked about once: whoever resumes the inquiry is asked again.
func runOf(v inquiries.Inquiry, m *inquiries.Member) string {
	return fmt.Sprint(m.Perspective, " ", m.Attempt, " ", m.Moves, " ", v.Epoch)
}

// fault is why a member that is waited for does not answer; "" if nothing is wrong, as far as this
// host knows. The caller holds q.mu.
func (q *Inquiries) fault(v inquiries.Inquiry, m *inquiries.Member) string {
	if !v.Awaits(m) {
		return ""
	}
	if m.Agent.Host == q.Host.String() {
		for _, c := range inquiries.Next(v) {
			if g := q.live[v.Channel]; g != nil && ofMember(c) && c.Perspective == m.Perspective && g.failed[callIn(v, c)] != nil {
				return g.failed[callIn(v, c)].Error()
			}
		}
		return ""
	}
	if why := q.gone(m.Agent.Host, q.Now()); why != "" {
		return why
	}
	for _, stuck := range q.StuckAt(protocol.Name(m.Agent.Host)) {
		if stuck.Inquiry == v.Channel && stuck.Perspective == m.Perspective {
			return stuck.Why
		}
	}
	return ""
}

// gone says that a host is lost; "" if it is not, or if nobody knows. `last` is when it was last to
// say something.
func (q *Inquiries) gone(host string, last time.Time) string {
	if host == q.Host.String() {
		return ""
	}
	heard, live := q.Seen(protocol.Name(host))
	switch silent := q.Now().Sub(heard); {
	case live:
	case heard.IsZero() && q.Now().Sub(last) >= unheardAfter:
		return fmt.Sprintf("the host %s has not been heard since this node started", host)
	case !heard.IsZero() && silent >= lostAfter:
		return fmt.Sprintf("the host %s has not been heard for %s", host, silent.Round(time.Second))
	}
	return ""
}

// Stuck returns the calls of members of this host that have failed and are still to be made.
func (q *Inquiries) Stuck() (all []protocol.Stuck) {
	for _, channel := range q.Running() {
		v := q.known.value(channel)
		q.mu.Lock()
		for _, m := range v.Members {
			s := protocol.Stuck{Inquiry: channel, Perspective: m.Perspective}
			if m.Agent.Host == q.Host.String() && len(all) < protocol.MaxStuck {
				if s.Why = q.fault(v, m); len(s.Why) > protocol.MaxWhy {
					s.Why = strings.ToValidUTF8(s.Why[:protocol.MaxWhy], "")
				}
			}
			if s.Why != "" && s.Check() == nil {
				all = append(all, s)
			}
		}
		q.mu.Unlock()
	}
	return all
}

// stands says why an inquiry does not go on, as far as this host knows, and which command helps. It is
// asked while the state is read; the caller holds q.mu.
func (q *Inquiries) stands(s *fleet.State, v inquiries.Inquiry, id string) (why, helps string) {
	if v.State.Over() {
		return "", ""
	}
	if g := v.Gate(v.Contested); g != nil {
		var said []string
		for _, a := range g.Counted() {
			said = append(said, fmt.Sprintf("%s (%s)", choice(a.Words), a.At.UTC().Format("15:04 UTC")))
		}
		return fmt.Sprintf("%s said different things at the gate %q: %s", g.Counted()[0].Human, g.Asks(), strings.Join(said, "; ")), "parley frame answer " + id + " --takes-back"
	}
	if q.Seen == nil { // a clone alone knows of no hosts
		return "", ""
	}
	last := v.Began
	if it, ok := s.Ledger.Item(v.Last); ok {
		last = it.Timestamp
	}
	resume, g := "parley frame resume "+id, q.live[v.Channel]
	if gone := q.gone(v.Coordinator.Host, last); gone != "" {
		return "it is coordinated by " + v.Coordinator.String() + ", and " + gone, resume
	}
	if open := v.Open(); open != nil && open.Gate == protocol.GateLost {
		return "", ""
	}
	for _, m := range v.Members {
		asked := v.Coordinator.Host != q.Host.String() || g == nil
		if !asked {
			_, asked = g.asked[runOf(v, m)]
		}
		if why := q.fault(v, m); why != "" && asked { // else a human is asked in a moment
			return fmt.Sprintf("%s (%s) does not answer: %s", m.Perspective, m.Agent, why), resume
		}
	}
	if g != nil {
		why = g.trouble(v)
	}
	if why == "" {
		return "", ""
	}
	return why, resume
}

// choice is what an answer chose, in one line.
func choice(w protocol.InquiryAnswer) string {
	var all []string
	for _, c := range w.Chosen {
		all = append(all, c.Options...)
	}
	if w.Text != "" {
		all = append(all, strconv.Quote(oneLine(w.Text)))
	}
	return strings.Join(all, ", ")
}

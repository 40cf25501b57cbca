package party

import (
	"context"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// warning is what an agent of this host tells a member of a party: what the member has to know now,
// and would otherwise only find in a list. It is told once, as an answer to what it is about.
type warning struct {
	channel protocol.ChannelID
	by      string
	to      protocol.Address
	re      protocol.Path
	text    string
}

// warn tells members of parties what agents of this host have to tell them: who lost what in these
// channels, in all if that is nil, and whose score has fallen too far.
func (p joins) warn(ctx context.Context, in []protocol.ChannelID) error {
	p.carrying.Lock()
	defer p.carrying.Unlock()
	var all []warning
	p.Folded(func(s *fleet.State) {
		scores := p.standing.Scores(s)
		for _, f := range p.all(s) {
			if !f.Begun() || f.Over() {
				continue
			}
			if in == nil || slices.Contains(in, f.channel) {
				all = append(all, p.losers(s, f)...)
			}
			all = append(all, p.lagging(s, f, scores)...)
		}
	})
	for _, w := range all {
		r := control.SendRequest{As: w.by, To: []string{w.to.String()}, Channel: w.channel.String(), Act: protocol.ActTell, Re: w.re.String(), Body: w.text}
		if _, err := p.Send(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(w.by)}, r); err != nil {
			return fmt.Errorf("cannot warn %s: %w", w.to, err)
		}
	}
	return nil
}

// warned reports whether a message was answered by a warning in the channel of a party. It is asked
// while the state is read.
func (f found) warned(s *fleet.State, about protocol.Path) bool {
	return slices.ContainsFunc(s.Talk.Answers(about), func(it *fleet.Item) bool {
		return it.Act == protocol.ActTell && it.Path.Channel() == f.channel
	})
}

// losers are warned that what they took, or reserved, an agent of this host has: both did it at
// once, and so neither could be refused it. It is asked while the state is read.
func (p joins) losers(s *fleet.State, f found) (list []warning) {
	for it := range s.Ledger.ChannelBackward(f.channel) {
		if p.Now().Sub(it.Place) > parties.MaxLease {
			break // nobody has anything for so long
		}
		loser := signer(it)
		if it.Act != protocol.ActTake && it.Act != protocol.ActLease || f.Member(loser.Name, it.Host) == nil || s.Void(it) == nil {
			continue
		}
		me := f.Holder(&it.Message, loser)
		if me.Host == p.Host.String() && me != loser && !f.warned(s, it.Path) {
			text := fmt.Sprintf("[party:%s] you do not have what you took, because both took it at once: %s; see: parley who", f.Name, s.Void(it))
			list = append(list, warning{f.channel, me.Name, loser, it.Path, text})
		}
	}
	return list
}

// lagging are warned that their score is below the rule accept_threshold, if an agent of this host is
// the one who warns them. They are warned once, until a score is above it again. It is asked while the
// state is read.
func (p joins) lagging(s *fleet.State, f found, all collab.Scores) (list []warning) {
	for _, m := range f.Members {
		scores := all[f.Slug][m.Name]
		v := p.member(s, f, m, all[f.Slug])
		if !v.OutOfSync {
			continue
		}
		last, warned := scores[len(scores)-1], false
		for _, score := range slices.Backward(scores) {
			warned = warned || f.warned(s, score.Path)
			if !protocol.NewScore(score.Raw).Below(f.Rules.AcceptThreshold) {
				break
			}
		}
		if by := p.warner(s, f, m, last.Asker); by != nil && by.Host == p.Host && !warned {
			text := fmt.Sprintf("[party:%s] your score is %s now, and below %s (accept_threshold) you are out of sync. Talk with %s, and ask where you differ: parley work-with %s %s --sync",
				f.Name, v.Decayed, protocol.NewScore(f.Rules.AcceptThreshold), by.Name, visible.Shell(by.Name), visible.Shell(f.Name))
			list = append(list, warning{f.channel, by.Name, m.Address(), last.Path, text})
		}
	}
	return list
}

// warner is the member who warns another one: whoever asked for its last score, else the agent of the
// leader, else whoever is a member for longest, the first of them who is there. It is nil if nobody is.
// It is asked while the state is read.
func (p joins) warner(s *fleet.State, f found, of party.Member, asker string) *party.Member {
	rank := func(m party.Member) int {
		switch {
		case m.Name == asker:
			return 0
		case m.Name == f.Leader.Via && m.Host == f.Leader.Host:
			return 1
		}
		return 2
	}
	members := slices.SortedStableFunc(slices.Values(f.Members), func(a, b party.Member) int { return rank(a) - rank(b) })
	at := slices.IndexFunc(members, func(m party.Member) bool {
		heard, live := p.Seen(m.Host)
		dormant := p.linked && !live && p.Now().Sub(later(heard, m.Since)) >= dormantAfter
		return m.Address() != of.Address() && s.People.CheckHosted(m.Address()) == nil && !dormant
	})
	if at < 0 {
		return nil
	}
	return &members[at]
}

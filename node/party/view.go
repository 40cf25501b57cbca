package party

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The states of a party as it is shown.
const (
	stateProposed = "proposed"
	stateActive   = "active"
	stateClosed   = "closed"
)

// dormantAfter is how long nothing has to be heard of a host until its agents are called dormant
// (seed, "Presence States").
const dormantAfter = 24 * time.Hour

// whole shows a party with all that is in it, as `me` sees it. It is asked while the state is read.
func (p *Parties) whole(s *fleet.State, f found, me string) control.Party {
	all := p.all(s)
	v := p.view(s, all, f, p.standing.Scores(s))
	v.Void = collab.Void(s, f.channel, p.kind.Deeds())
	if usual, none := p.usual(all, me); none == nil {
		v.Current = usual.channel == f.channel
	}
	return v
}

// view shows a party as in lists. It is asked while the state is read.
func (p *Parties) view(s *fleet.State, all []found, f found, scores collab.Scores) control.Party {
	anchor, _ := protocol.ParseAnchor(f.Anchor, "")
	v := control.Party{
		Name: f.Name, Slug: f.Slug.String(), Short: short(all, f), Channel: f.channel, Organized: f.Organized.String(), Host: f.Leader.Host, State: stateActive,
		Leader: f.Leader.Human, Via: f.Leader.Via, Team: f.Team, Anchor: f.Anchor, AnchorURL: anchor.URL(), Rules: f.Rules, Created: f.Created, Ended: f.EndedAt(),
		Left: f.Left,
	}
	switch {
	case !f.Begun():
		v.State = stateProposed
	case f.Over():
		v.State = stateClosed
	}
	_, _, said := s.Ledger.Said(f.channel)
	v.LastActivity = later(f.LastDeed, said)
	sum := 0.0
	for _, m := range f.Members {
		shown := p.member(s, f, m, scores[f.Slug])
		shown.Trust = p.standing.Trust(s, f.Leader.Via, m.Name, scores.Relation(f.Slug, f.Leader.Via, m.Name))
		v.LastActivity = later(v.LastActivity, shown.LastSync)
		if x, ok := shown.Decayed.Value(); ok {
			v.Synced++
			sum += x
		}
		v.Members = append(v.Members, shown)
	}
	if v.Synced > 0 {
		v.Mean = protocol.NewScore(sum / float64(v.Synced))
	}
	v.SyncDue = p.syncDue(f, v)
	for _, g := range f.Gates {
		if !g.Moot {
			v.Gates = append(v.Gates, p.gate(s, f, g))
		}
	}
	work(f, &v)
	return v
}

// syncDue reports whether it is time for a sync by the party's rule. With "daily", that is so if no
// member was synced for a day. With "on-trigger", it is so if somebody joined or something was
// settled since the last sync. It only reminds people, and asks nobody (seed, "sync_cadence").
func (p *Parties) syncDue(f found, v control.Party) bool {
	if v.State != stateActive || len(v.Members) < 2 {
		return false
	}
	last := f.Created
	for _, m := range v.Members {
		last = later(last, m.LastSync)
	}
	switch f.Rules.SyncCadence {
	case "daily":
		return p.Now().Sub(last) >= 24*time.Hour
	case "on-trigger":
		return slices.ContainsFunc(f.Members, func(m party.Member) bool { return m.Joined.After(last) }) ||
			slices.ContainsFunc(f.Proposals, func(pr *party.Proposal) bool {
				return pr.Settled() == party.Accepted && slices.ContainsFunc(pr.Votes, func(b party.Vote) bool { return b.Time.After(last) })
			})
	}
	return false
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (p *Parties) member(s *fleet.State, f found, m party.Member, scores map[string][]collab.Score) control.PartyMember {
	now := p.Now()
	lambda := topic.Lambda{Value: f.Rules.DecayLambda, Tier: topic.TierRule}
	v := control.PartyMember{Member: m, Role: m.Role(), Lambda: lambda.Value}
	v.Heard, v.Connected = p.Seen(m.Host)
	v.Status = p.status(m, v.Heard, v.Connected)
	of := scores[m.Name]
	var history []topic.Sample
	for _, score := range of {
		sample := score.Sample
		sample.Lambda = lambda.Value
		history = append(history, sample)
	}
	if len(of) == 0 {
		return v
	}
	last := of[len(of)-1]
	v.Raw = protocol.NewScore(last.Raw)
	v.Decayed, v.LastSync = lambda.Worth(v.Raw, last.At, now), last.At
	v.Colour, v.Sparkline = topic.ColourOf(v.Decayed), topic.Sparkline(history, now)
	v.Stale, v.OutOfSync = v.Decayed.Below(f.Rules.KickThreshold), v.Decayed.Below(f.Rules.AcceptThreshold)
	v.Resync = v.Decayed.Below(topic.Resync) || f.Rules.DivergenceTolerance != "high" && v.Raw.Below(0.7)
	return v
}

// status is the presence that a member said, corrected by whether its host can be heard. The
// corrections change only what is shown.
func (p *Parties) status(m party.Member, heard time.Time, live bool) string {
	said := m.Presence
	switch {
	case live && said == protocol.PresenceActive && (p.At(m.Host, m.Name) == control.AgentIdle || p.At(m.Host, m.Name) == control.AgentWaiting):
		said = protocol.PresenceIdle
	case said == protocol.PresenceHidden || live:
	case !heard.IsZero() && p.Now().Sub(heard) >= dormantAfter, heard.IsZero() && p.Now().Sub(m.Since) >= dormantAfter:
		said = protocol.PresenceDormant
	default:
		said = protocol.PresenceAway
	}
	return string(said)
}

func work(f found, v *control.Party) {
	for _, pr := range f.Proposals {
		v.Proposals = append(v.Proposals, control.PartyProposal{Proposal: *pr, Outcome: pr.Settled()})
	}
	for _, t := range f.Tasks {
		shown := control.PartyTask{Task: *t, State: "free"}
		switch {
		case t.Done != nil:
			shown.State, shown.Taker, shown.Until, shown.Outcome, shown.Done = "done", t.Done.By, time.Time{}, t.Done.Outcome, t.Done.Time
		case t.Taker.Name != "":
			shown.State = "taken"
		}
		v.Tasks = append(v.Tasks, shown)
	}
	for _, l := range f.Leases {
		if l.Ended.IsZero() {
			v.Leases = append(v.Leases, l)
		}
	}
}

// gate shows a gate, without the words of its message.
func (p *Parties) gate(s *fleet.State, f found, g *parties.Gate) control.Gate {
	v := control.Gate{
		ID: g.Path.Short(), Path: g.Path.String(), For: g.For, Title: g.Title(), Party: f.Name, Channel: f.channel.String(), By: g.By, Human: g.Human, Host: g.Host,
		Deciders: g.Deciders, Outcome: g.Outcome(), Time: g.At, AnswerBy: g.AnswerBy, Hash: g.Hash,
		Asker: asker(s, g),
	}
	if g.Whom.Name != "" {
		v.Whom = g.Whom.String()
	}
	if f.Over() && g.Waits() {
		v.Title += " into a party that is archived since " + f.EndedAt().UTC().Format(time.DateOnly) + ": to accept opens it again"
	}
	v.Here = g.Host == p.Host && (len(g.Deciders) == 0 || slices.Contains(g.Deciders, p.Human))
	v.NoKey = g.Waits() && g.Host != "" && !hasKey(s, g)
	if a := g.Verdict(); a != nil {
		v.Reason, v.DecidedBy, v.Decided, v.Answer, v.Until = a.Reason, a.By, a.At, a.Path.String(), a.Until
		v.Seen = a.Seen
		v.Proof, v.TakesBack = control.ProofOwnKey, a.Hash
		if a.Open {
			v.Proof = control.ProofOpenKey
		}
	} else if g.Outcome() == party.Contested {
		v.TakesBack = g.Contesting()
	}
	return v
}

// asker is who asks at a gate. An invite also says so in its words, which may lie.
func asker(s *fleet.State, g *parties.Gate) protocol.Asker {
	claims := ""
	if g.For == parties.ForInvite {
		claims = g.Human
	}
	return s.Asker(g.By, g.From, claims)
}

// hasKey reports whether any human who decides a gate has a key of their own.
func hasKey(s *fleet.State, g *parties.Gate) bool {
	host, joined := s.Keys().Host(g.Host)
	if !joined {
		return false
	}
	for _, human := range host.Humans {
		_, counts, _ := host.HumanKeyNow(human.String())
		if counts && (len(g.Deciders) == 0 || slices.Contains(g.Deciders, human)) {
			return true
		}
	}
	return false
}

package party

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The audiences of an announcement.
const (
	tierTeam  = "team"
	tierFleet = "fleet"
)

const broadcastMark = "📢 BROADCAST: "

func teamMark(f found) string { return "📢 TEAM BROADCAST [" + f.Team + "]: " }

type announcing struct {
	control.Announcing
	what  string             // in the words of the seed
	apart []protocol.Address // agents that learn of it in another way
	cross bool               // it concerns an agent of another host
}

// crosses reports whether agents of other hosts have to do with a party.
func (p *Parties) crosses(f found, more []protocol.Address) bool {
	elsewhere := func(host string) bool { return host != p.Host.String() }
	return slices.ContainsFunc(f.Members, func(m party.Member) bool { return elsewhere(m.Host.String()) }) ||
		slices.ContainsFunc(more, func(a protocol.Address) bool { return elsewhere(a.Host) })
}

// announce tells others of a party, as the three tiers have it (seed, "3-Tier Matrix"). If the
// party has a tag, its team is told. Else the fleet is told, if the request asks for that. If
// agents of other hosts are in the party, the fleet is told only with a human's consent. announce
// returns nil if nobody was to be told.
func (p *Parties) announce(ctx context.Context, by control.Caller, me collab.Acting, f found, a announcing) *control.Announcement {
	v := &control.Announcement{Tier: tierFleet, To: []control.ToldOne{}}
	if f.Team != "" {
		v.Tier = tierTeam
	}
	switch {
	case f.Team == "" && !a.Broadcast:
		return nil
	case a.Quiet:
		v.Skipped = "it was to be quiet"
	case f.Rules.BroadcastScope == protocol.ScopeNone:
		v.Skipped = noScope
	case v.Tier == tierFleet && a.cross && me.Human != "" && !a.Consent:
		v.Skipped = noConsent
	}
	if v.Skipped != "" {
		return v
	}
	self := protocol.Address{Name: me.Me, Host: p.Host.String()}
	p.Folded(func(s *fleet.State) {
		if v.Tier == tierTeam {
			v.Text = teamMark(f) + a.what
			v.To = p.reachable(s, p.teamOf(s, f), self)
		} else {
			v.Text = broadcastMark + a.what
			v.To = p.everybody(s)
		}
		v.To = without(v.To, func(one protocol.Address) bool { return one == self || slices.Contains(a.apart, one) })
	})
	if v.Tier == tierFleet && me.Human == "" && asksFirst(p.Host, a.cross, v.To) {
		p.wishToTell(ctx, by, me.Me, f.channel, protocol.Wish{Text: a.what}, v)
		return v
	}
	_ = p.say(ctx, by, control.SendRequest{As: me.Me, Channel: f.channel.String()}, v) // v says why nobody was told
	return v
}

// without returns a list without those for whom `apart` is true.
func without(list []control.ToldOne, apart func(protocol.Address) bool) []control.ToldOne {
	return slices.DeleteFunc(list, func(one control.ToldOne) bool {
		a, _ := protocol.ParseAddress(one.Who)
		return apart(a)
	})
}

// asksFirst reports whether an agent's announcement is for its human to agree to: anybody is told,
// and what it is about concerns other hosts, as `cross` says, or somebody there is told (R28, R64).
func asksFirst(here protocol.Name, cross bool, list []control.ToldOne) bool {
	return slices.ContainsFunc(list, func(one control.ToldOne) bool {
		a, _ := protocol.ParseAddress(one.Who)
		return told(one) && (cross || a.Host != here.String())
	})
}

// wishToTell asks the human of an agent whether those in v.To are told, some of whom are on other
// hosts. It notes in `v` the gate at which they decide, and why nobody is told yet.
func (p *Parties) wishToTell(ctx context.Context, by control.Caller, me string, channel protocol.ChannelID, w protocol.Wish, v *control.Announcement) {
	runs := 0
	for _, one := range v.To {
		if a, _ := protocol.ParseAddress(one.Who); told(one) {
			runs++
			w.On = append(w.On, protocol.Name(a.Host))
		}
	}
	slices.Sort(w.On)
	w.On, w.For = slices.Compact(w.On), protocol.WishBroadcast
	w.Cost = fmt.Sprintf("agents that may be run by it, once each, with their answers: %d", runs)
	var humans []protocol.Name
	var err error
	var f found
	p.Folded(func(s *fleet.State) { f, humans, err = p.in(s, channel), humansOf(s, p.Host), p.mayAsk(s, me) })
	v.To, v.Skipped = []control.ToldOne{}, "agents of other hosts are told when "+p.Human.String()+" agrees: parley gates"
	for _, g := range f.Gates {
		if g.For == parties.ForBroadcast && g.By == me && g.Host == p.Host && g.Text == w.Text && g.Waits() {
			v.Gate = g.Path.Short() // that is asked already
			return
		}
	}
	var paths []protocol.Path
	if err == nil {
		paths, err = p.Do(ctx, by, parties.Actor{Record: p.RecordID, Me: me, Host: p.Host}.Wish(channel, w, humans))
	}
	if err != nil {
		v.Skipped = "the human could not be asked: " + err.Error()
		return
	}
	v.Gate = paths[0].Short()
}

// say sends the announcement `v` as its author does in a channel, which `r` names. It notes in `v`
// what became of it, also an error.
func (p *Parties) say(ctx context.Context, by control.Caller, r control.SendRequest, v *control.Announcement) (err error) {
	r.Act, r.Body = protocol.ActBroadcast, v.Text
	if v.Message, err = p.fanOut(ctx, by, r, v.To); err != nil {
		v.Skipped, v.To = err.Error(), []control.ToldOne{}
	} else if v.Message == "" {
		v.Skipped = nobodyToTell
	}
	return err
}

// Why nobody is told.
const (
	noConsent    = "you did not agree that agents of other hosts are told"
	noScope      = "by the party's rule broadcast_scope nobody is told"
	nobodyToTell = "there is nobody to be told"
)

// teamOf returns the members of all parties with the same tag, each once. It is asked while the
// state is read.
func (p *Parties) teamOf(s *fleet.State, of found) (team []party.Member) {
	for _, f := range p.all(s) {
		if f.Team != of.Team {
			continue
		}
		for _, m := range f.Members {
			if !slices.ContainsFunc(team, func(o party.Member) bool { return o.Address() == m.Address() }) {
				team = append(team, m)
			}
		}
	}
	return team
}

// everybody returns all agents of the fleet, and what will become of a message for each of them. An
// agent that is hidden in any party is told nothing. It is asked while the state is read.
func (p *Parties) everybody(s *fleet.State) []control.ToldOne {
	hidden := map[protocol.Address]bool{}
	for _, f := range p.all(s) {
		for _, m := range f.Members {
			if m.Presence == protocol.PresenceHidden {
				hidden[m.Address()] = true
			}
		}
	}
	list := []control.ToldOne{}
	for _, a := range agents(s) {
		one := control.ToldOne{Who: a.String(), Outcome: control.ToldSent}
		if _, live := p.Seen(protocol.Name(a.Host)); !live {
			one.Outcome = control.ToldKept
		}
		if hidden[a] {
			one.Outcome = control.ToldSkipped
		}
		list = append(list, one)
	}
	return list
}

// carryBroadcasts sends announcements that agents of this host wanted to make to agents of other
// hosts, once their human has agreed. Each is sent once. `told` says what became of those that were
// not sent before, by the message that asked for each.
func (p *Parties) carryBroadcasts(ctx context.Context, channel protocol.ChannelID) (told map[protocol.Path]*control.Announcement, failed []string) {
	told = map[protocol.Path]*control.Announcement{}
	var f found
	var t topics.Topic
	var wished []*parties.Gate
	p.Folded(func(s *fleet.State) {
		if f = p.in(s, channel); f.Organized.IsZero() {
			t = fleet.Value(s, p.topics, channel.String(), p.Now())
		}
		for _, g := range f.Gates {
			sent := func(it *fleet.Item) bool { return it.Act == protocol.ActBroadcast && it.Host == p.Host }
			if g.For == parties.ForBroadcast && g.Host == p.Host && g.Outcome() == party.Accepted && !slices.ContainsFunc(s.Talk.Answers(g.Path), sent) {
				wished = append(wished, g)
			}
		}
	})
	for _, g := range wished {
		v := &control.Announcement{Tier: tierFleet, Text: broadcastMark + g.Text, To: []control.ToldOne{}}
		told[g.Path] = v
		_, closed := t.ClosedBy(g.By)
		switch { // what has changed since it was asked
		case f.Organized.IsZero() && (closed || !slices.Contains(t.Pair[:], g.By)):
			v.Skipped = g.By + " has no such topic open"
		case f.Organized.IsZero():
			v.Text = g.Text
		case f.Over():
			v.Skipped = "the party is over"
		case f.Rules.BroadcastScope == protocol.ScopeNone:
			v.Skipped = noScope
		case f.Member(g.By, g.Host) == nil:
			v.Skipped = g.By + " is no member any more"
		}
		if v.Skipped != "" {
			continue
		}
		p.Folded(func(s *fleet.State) {
			v.To = without(p.everybody(s), func(a protocol.Address) bool {
				host := protocol.Name(a.Host)
				return len(g.On) > 0 && !slices.Contains(g.On, host) || f.Member(a.Name, host) != nil || isOfTopic(t, g.By, p.Host, a)
			})
		})
		by := control.Caller{Kind: control.ByAgent, Name: protocol.Name(g.By)}
		if err := p.say(ctx, by, control.SendRequest{As: g.By, Channel: channel.String(), Re: g.Path.String()}, v); err != nil {
			failed = append(failed, fmt.Sprintf("broadcast of %s: %v", g.By, err))
		}
	}
	return told, failed
}

// usefulWithin is how soon somebody has to join or answer, so that a broadcast counts as useful.
const usefulWithin = 7 * 24 * time.Hour

// Stats answers control.BroadcastStats.
func (p *Parties) Stats(context.Context, control.BroadcastStatsRequest) (use control.BroadcastUse, err error) {
	p.Folded(func(s *fleet.State) {
		for _, kind := range []string{parties.KindName, topics.KindName} {
			for _, name := range s.Affairs(kind) {
				if kind == parties.KindName && s.HasAffair(topics.KindName, name) {
					continue // a topic of which an agent wanted to tell others
				}
				var joined []time.Time // when somebody asked to be let in
				for it := range s.Ledger.ChannelBackward(protocol.ChannelID(name)) {
					switch {
					case it.Type != protocol.TypeText:
					case (it.Act == protocol.ActPartyJoin || it.Act == protocol.ActJoinRequest) && s.Void(it) == nil:
						joined = append(joined, it.Timestamp)
					case it.Act == protocol.ActBroadcast:
						use.Sent++
						soon := func(at time.Time) bool { return at.After(it.Timestamp) && at.Sub(it.Timestamp) <= usefulWithin }
						if slices.ContainsFunc(joined, soon) || slices.ContainsFunc(s.Talk.Answers(it.Path), func(a *fleet.Item) bool { return soon(a.Timestamp) }) {
							use.Useful++
						}
					}
				}
			}
		}
	})
	if use.Sent > 0 {
		use.Share = float64(use.Useful) / float64(use.Sent)
	}
	return use, nil
}

// isOfTopic reports whether somebody takes part in the topic of which `me`, of a host, tells others.
func isOfTopic(t topics.Topic, me string, host protocol.Name, a protocol.Address) bool {
	return slices.Contains(t.Pair[:], a.Name) && (a.Name != me || a.Host == host.String())
}

// BroadcastTopic answers control.BroadcastTopic. If one of the two participants is on another host,
// the human who typed it has to agree. If an agent asks and anybody on another host would be told,
// its human is asked at a gate (R28, R64).
func (p *Parties) BroadcastTopic(ctx context.Context, by control.Caller, r control.BroadcastTopicRequest) (control.Announcement, error) {
	v := control.Announcement{Tier: tierFleet, To: []control.ToldOne{}}
	who, err := p.acts(by, r.Acting, true)
	if err != nil {
		return v, err
	}
	t, err := p.standing.Topic(ctx, by, control.TopicRequest{Viewing: control.Viewing{For: who.Me}, With: r.With, Topic: r.Topic})
	if err != nil {
		return v, err
	}
	anchor, observe := "none", "ask for updates"
	if t.Anchor != "" {
		anchor, observe = t.Anchor, "watch "+t.Anchor
	}
	v.Text = fmt.Sprintf("📢 COLLABORATION BROADCAST | from: %s\nTopic: %s\nParticipants: %s, %s\nAnchor: %s\nJoin: parley work-with %s %s --join\nObserve: %s",
		who.Me, t.Name, who.Me, t.With, anchor, visible.Shell(who.Me), visible.Shell(t.Name), observe)
	if t.CrossHost && who.Human != "" && !r.Consent {
		v.Skipped = noConsent
	}
	if r.Try || v.Skipped != "" {
		return v, nil
	}
	p.Folded(func(s *fleet.State) {
		of := fleet.Value(s, p.topics, t.Channel.String(), p.Now())
		v.To = without(p.everybody(s), func(a protocol.Address) bool { return isOfTopic(of, who.Me, p.Host, a) })
	})
	if who.Human == "" && asksFirst(p.Host, t.CrossHost, v.To) {
		p.wishToTell(ctx, by, who.Me, t.Channel, protocol.Wish{FormHead: protocol.FormHead{Topic: t.Name}, Text: v.Text}, &v)
		return v, nil
	}
	err = p.say(ctx, by, control.SendRequest{As: who.Me, Channel: t.Channel.String()}, &v)
	return v, err
}

// notice tells agents outside of the party who came or went, as far as its rule broadcast_scope
// allows. That is its team, or all agents of the hosts that are in the party. Agents of other hosts
// are told only at a human's request. What cannot be told is in the record all the same.
func (p *Parties) notice(ctx context.Context, by control.Caller, speaker string, f found, what string) {
	scope := f.Rules.BroadcastScope
	if scope != protocol.ScopeTeam && scope != protocol.ScopeFleet {
		return
	}
	var to []control.ToldOne
	p.Folded(func(s *fleet.State) {
		if scope == protocol.ScopeTeam && f.Team != "" {
			to = p.reachable(s, p.teamOf(s, f), protocol.Address{})
		} else if scope == protocol.ScopeFleet {
			to = p.everybody(s)
		}
		to = without(to, func(a protocol.Address) bool {
			there := slices.ContainsFunc(f.Members, func(m party.Member) bool { return m.Host.String() == a.Host })
			return !there || f.Member(a.Name, protocol.Name(a.Host)) != nil || a.Name == speaker && a.Host == p.Host.String()
		})
	})
	text := broadcastMark + what
	if scope == protocol.ScopeTeam {
		text = teamMark(f) + what
	}
	if _, err := p.fanOut(ctx, by, control.SendRequest{As: speaker, Channel: f.channel.String(), Act: protocol.ActNote, Body: text}, to); err != nil {
		p.Log.Warn().Err(err).Msg("a notice of a party was not told beyond it")
	}
}

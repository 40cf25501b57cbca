package party

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// hearing is how long a tell waits until the hosts of its addressees have it. It is short, because
// the answer says which messages are still on their way.
const hearing = 250 * time.Millisecond

// Tell answers control.TellParty. It writes one message to all members, except the hidden ones.
func (p *Parties) Tell(ctx context.Context, by control.Caller, r control.TellPartyRequest) (control.Told, error) {
	who, err := p.standing.Acting(by, r.Acting, false)
	if err != nil {
		return control.Told{}, err
	}
	if strings.TrimSpace(r.Text) == "" {
		return control.Told{}, control.Errorf(control.KindUsage, "", "cannot tell the party nothing")
	}
	done := control.Told{Me: who.Me, Chosen: who.Chosen}
	var f found
	p.Folded(func(s *fleet.State) {
		if f, err = p.find(s, who.Me, r.Party); err != nil {
			return
		}
		if f.Member(who.Me, p.Host) == nil {
			err = control.Errorf(control.KindRefused, "ask to be let in: parley party join "+f.Slug.String(), "%s is no member of %q", who.Me, f.Name)
			return
		}
		done.To = p.reachable(s, f.Members, protocol.Address{Name: who.Me, Host: p.Host.String()})
	})
	if err != nil {
		return control.Told{}, err
	}
	if r.Persist && !slices.ContainsFunc(done.To, told) { // what is told on the issue is in the record too
		leader := protocol.Address{Name: f.Leader.Human, Host: f.Leader.Host.String()}
		done.To = append(done.To, control.ToldOne{Who: leader.String(), Outcome: control.ToldSent})
	}
	done.Party = f.Name
	text := "[party:" + f.Name + "] " + r.Text
	if done.Message, err = p.fanOut(ctx, by, control.SendRequest{As: who.Me, Channel: f.channel.String(), Act: protocol.ActTell, Body: text}, done.To); err != nil {
		return control.Told{}, err
	}
	if r.Persist {
		done.Comment = p.persist(ctx, f, who.Me, who.Human, r.Text, done.Message)
	}
	return done, nil
}

// reachable returns what will become of a message for each of `members`, as far as that can be
// known before it is written. It leaves out the member `but`. It is asked while the state is read.
func (p *Parties) reachable(s *fleet.State, members []party.Member, but protocol.Address) []control.ToldOne {
	list := []control.ToldOne{}
	for _, m := range members {
		if m.Address() == but {
			continue
		}
		one := control.ToldOne{Who: m.Address().String(), Outcome: control.ToldSent}
		heard, live := p.Seen(m.Host)
		switch status := protocol.Presence(p.status(m, heard, live)); {
		case s.People.CheckHosted(m.Address()) != nil:
			one.Outcome, one.Why = control.ToldFailed, s.People.CheckHosted(m.Address()).Error()
		case status == protocol.PresenceHidden:
			one.Outcome = control.ToldSkipped
		case status == protocol.PresenceBusy:
			one.Outcome = control.ToldQueued
		case status == protocol.PresenceAway, status == protocol.PresenceDormant:
			one.Outcome = control.ToldKept
		}
		list = append(list, one)
	}
	return list
}

// told reports whether a message goes to somebody.
func told(one control.ToldOne) bool {
	return one.Outcome != control.ToldSkipped && one.Outcome != control.ToldFailed
}

// fanOut writes the message `r` to those of a list that it can reach, and notes whose host has it.
// The path is "" if it would reach nobody.
func (p *Parties) fanOut(ctx context.Context, by control.Caller, r control.SendRequest, list []control.ToldOne) (string, error) {
	r.HeardWithin = hearing
	for _, one := range list {
		if told(one) {
			r.To = append(r.To, one.Who)
		}
	}
	if len(r.To) == 0 {
		return "", nil
	}
	m, err := p.Send(ctx, by, r)
	if err != nil {
		return "", err
	}
	for i := range list {
		a, _ := protocol.ParseAddress(list[i].Who)
		if host := protocol.Name(a.Host); list[i].Outcome == control.ToldSent && (host == p.Host || slices.Contains(m.Heard, host)) {
			list[i].Outcome = control.ToldDelivered
		}
	}
	return m.Path.String(), nil
}

// persist puts what was said to the party on the party's issue (seed, "Persist to anchor").
func (p *Parties) persist(ctx context.Context, f found, me, human, text, message string) *control.IssueComment {
	v := &control.IssueComment{Issue: f.Anchor, Messages: []string{}}
	path, err := protocol.ParsePath(message)
	switch {
	case f.Anchor == "":
		v.Skipped = "the party hangs on no issue"
		return v
	case err != nil:
		v.Skipped = "nobody was told"
		return v
	case human == "" && f.Leader.Host != p.Host:
		v.Skipped = "no human of " + p.Host.String() + " has named that issue: " + p.Human.String() + " can tell it there"
		return v
	}
	v.Messages = append(v.Messages, message)
	comment := collab.Comment("Party broadcast", f.Name, visible.Text(text), me, p.Host, path) + protocol.Rule6(me, human) + "\n"
	if v.URL, v.Again, err = p.Post(ctx, f.Anchor, comment, path); err != nil {
		v.Skipped = err.Error()
	}
	return v
}

// Present answers control.SayPresence.
func (p *Parties) Present(ctx context.Context, by control.Caller, r control.SayPresenceRequest) (control.SaidPresence, error) {
	who, err := p.acts(by, r.Acting, false)
	if err != nil {
		return control.SaidPresence{}, err
	}
	state, err := protocol.ParsePresence(string(r.State))
	if err != nil {
		return control.SaidPresence{}, control.Errorf(control.KindUsage, "", "cannot say that: %v", err)
	}
	said := control.SaidPresence{Me: who.Me, Chosen: who.Chosen, State: state, Parties: []string{}, Failed: []string{}}
	var in []found
	p.Folded(func(s *fleet.State) {
		if r.Party != "" {
			var f found
			if f, err = p.find(s, who.Me, r.Party); err == nil {
				in = []found{f}
			}
			return
		}
		for _, f := range p.all(s) {
			if f.Member(who.Me, p.Host) != nil {
				in = append(in, f)
			}
		}
	})
	if err == nil && len(in) == 0 {
		err = control.Errorf(control.KindNotFound, "", "%s is in no party", who.Me)
	}
	if err != nil {
		return control.SaidPresence{}, err
	}
	for _, f := range in {
		if m := f.Member(who.Me, p.Host); m != nil && m.Presence == state && m.Note == r.Note {
			continue // messages only on change
		}
		if _, err := p.Do(ctx, by, parties.Actor{Record: p.RecordID, Me: who.Me, Host: p.Host}.Present(f.channel, state, r.Note)); err != nil {
			said.Failed = append(said.Failed, f.Name+": "+err.Error())
			continue
		}
		said.Parties = append(said.Parties, f.Name)
	}
	return said, nil
}

// There says in the parties of an agent of this host that the agent is away, whatever it was before.
// If `away` is false, it says that the agent is back, in the parties where it was away. Each party is told by a message in
// its channel. Links and runs say nothing of this.
func (p *Parties) There(ctx context.Context, by control.Caller, agent protocol.Name, away bool) error {
	state := protocol.PresenceActive
	if away {
		state = protocol.PresenceAway
	}
	var in []protocol.ChannelID
	p.Folded(func(s *fleet.State) {
		for _, f := range p.all(s) {
			if m := f.Member(agent.String(), p.Host); m != nil && (m.Presence == protocol.PresenceAway) != away {
				in = append(in, f.channel)
			}
		}
	})
	for _, channel := range in {
		if _, err := p.Do(ctx, by, parties.Actor{Record: p.RecordID, Me: agent.String(), Host: p.Host}.Present(channel, state, "")); err != nil {
			return err
		}
	}
	return nil
}

// Busy reports whether an agent of this host is busy in the party of a channel, so that what is
// said there waits. It is asked while the state is read.
func (p *Parties) Busy(s *fleet.State, agent string, channel protocol.ChannelID) bool {
	if !s.HasAffair(parties.KindName, channel.String()) {
		return false
	}
	m := p.in(s, channel).Member(agent, p.Host)
	return m != nil && m.Presence == protocol.PresenceBusy
}

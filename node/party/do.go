package party

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// acts is for whom a caller does something: an agent or, with `self`, also the human.
func (p *Parties) acts(by control.Caller, a control.Acting, self bool) (collab.Acting, error) {
	who, err := p.standing.Acting(by, a, self)
	if err == nil && by.Kind == control.Unattended { // it may be an agent, which would decide for its human
		err = control.Errorf(control.KindRefused, "call it in a terminal on this machine", "nobody can tell who calls (%s), and parties have gates", by.How)
	}
	return who, err
}

// actor returns the actor for the rules of parties. It is asked while the state is read.
func (p *Parties) actor(s *fleet.State, me, human, hsig string) parties.Actor {
	a := parties.Actor{Record: p.RecordID, Me: me, Host: p.Host, Human: human, Hsig: hsig}
	if human == "" {
		return a
	}
	if host, joined := s.Keys().Host(p.Host); joined {
		if key, counts, _ := host.HumanKeyNow(human); counts {
			a.Key = key.Key
		}
	}
	return a
}

// Organize answers control.Organize.
func (p *Parties) Organize(ctx context.Context, by control.Caller, r control.OrganizeRequest) (control.PartyDeed, error) {
	who, err := p.acts(by, r.Acting, false)
	if err != nil {
		return control.PartyDeed{}, err
	}
	o := protocol.Organizing{
		FormHead: protocol.FormHead{From: who.Me, Topic: strings.TrimSpace(r.Topic), At: cmp.Or(r.At, p.Now())}, Leader: p.Human, Team: strings.TrimSpace(r.Team),
		Rules: protocol.DefaultPartyRules(),
	}
	if r.Rules != "" {
		if err := o.Rules.Override(r.Rules); err != nil {
			return control.PartyDeed{}, control.Errorf(control.KindUsage, "", "cannot organize the party: %v", err)
		}
	}
	if r.Anchor != "" {
		a, err := protocol.ParseAnchor(r.Anchor, r.Origin)
		if err != nil {
			return control.PartyDeed{}, control.Errorf(control.KindUsage, "write --anchor 332, or quote it: --anchor '#332'", "cannot anchor the party: %v", err)
		}
		o.Anchor = a.String()
	}
	done := control.PartyDeed{Me: who.Me, Chosen: who.Chosen, Messages: []string{}, Failed: []string{}}
	var there found // a party of that name: it is loaded, never overwritten (R24)
	var command affair.Command
	var channel protocol.ChannelID
	p.Folded(func(s *fleet.State) {
		for _, name := range r.With {
			var one protocol.Address
			if one, err = invitee(s, p.standing, who.Me, name, o.Anchor); err != nil {
				return
			}
			if one.Name == who.Me && one.Host == p.Host.String() {
				err = control.Errorf(control.KindUsage, "", "%s begins the party: there is no need to invite it", who.Me)
				return
			}
			if !slices.Contains(o.With, one) {
				o.With = append(o.With, one)
			}
		}
		if len(o.With) > protocol.MaxWith {
			err = control.Errorf(control.KindUsage, "invite the others when it has begun: parley party invite AGENT", "a party begins with at most %d invites, and these are %d", protocol.MaxWith, len(o.With))
			return
		}
		slug, none := protocol.SlugOf(o.Topic)
		if none != nil {
			err = control.Errorf(control.KindUsage, "", "%v", none)
			return
		}
		for _, f := range p.all(s) {
			if f.Slug == slug && !f.Over() && p.isOf(f, who.Me) {
				there, done.Party = f, p.whole(s, f, who.Me)
				done.Failed = append(done.Failed, undone(who, f, o, r.Rules)...)
				done.Plan.Consent = p.needsConsent(who.Human, r.Announcing, f, invited(f))
				return
			}
		}
		if who.Human == "" {
			if err = cmp.Or(announcedLater(r.Announcing), p.mayAsk(s, who.Me)); err != nil {
				return
			}
		}
		done.Plan = control.PartyPlan{
			Me: who.Me, Leader: p.Human.String(), Act: protocol.ActOrganize, With: each.Of(o.With, protocol.Address.String), Anchor: o.Anchor, At: o.At,
		}
		if who.Human != "" {
			done.Plan.Decides = o.Decides()
			done.Plan.Consent = o.Team == "" && p.needsConsent(who.Human, r.Announcing, found{}, o.With)
		}
		command, channel, err = p.actor(s, who.Me, who.Human, r.Hsig).Organize(o)
	})
	if err != nil || r.Try || done.Party.Name != "" && !r.Broadcast {
		return done, writing.Problem("organize the party", err)
	}
	if done.Party.Name != "" {
		what := fmt.Sprintf("%s is in %q, led by %s; ask to be let in: parley party join %s", who.Me, there.Name, there.Leader.Human, there.Slug)
		done.Announced = p.announceParty(ctx, by, who, there, r.Announcing, what, invited(there))
		return done, nil
	}
	if who.Human != "" {
		if err := p.Signed(protocol.HumanDecision{Act: protocol.ActOrganize, Reason: o.Decides()}, r.Hsig); err != nil {
			return done, err
		}
	}
	paths, err := p.Do(ctx, by, command)
	if err != nil {
		return done, writing.Problem("organize the party", err)
	}
	done.Messages = append(done.Messages, each.Of(paths, protocol.Path.String)...)
	if err := p.current.set(who.Me, paths[0].String()); err != nil {
		p.Log.Warn().Err(err).Msg("the party that is meant where none is named is another one than expected")
	}
	_, failed := p.carry(ctx, channel)
	done.Failed = append(done.Failed, failed...)
	done.Comments = postInvites(ctx, p, channel, time.Time{})
	p.after(&done, channel, who.Me, paths)
	if done.Gate != nil {
		return done, nil // nobody is told of a party to which a human has not agreed
	}
	var f found
	p.Folded(func(s *fleet.State) { f = p.in(s, channel) })
	what := fmt.Sprintf("%s organized %q, led by %s; ask to be let in: parley party join %s", who.Me, f.Name, f.Leader.Human, f.Slug)
	done.Announced = p.announceParty(ctx, by, who, f, r.Announcing, what, o.With)
	return done, nil
}

// undone says what a request to organize asks for and a party that is there already does not have.
func undone(who collab.Acting, f found, o protocol.Organizing, rules string) (list []string) {
	words := " --party " + f.Slug.String()
	if who.Human != "" && who.Chosen == "" { // the agent was named, so the next command has to name it too
		words += " --via " + who.Me
	}
	for _, a := range o.With {
		comes := slices.Contains(f.Wanted, a) && !f.InvitedFor(f.Organized, a) // the invite of the party's beginning is still to be sent
		if !comes && f.Member(a.Name, protocol.Name(a.Host)) == nil && f.Invited(a) == nil {
			list = append(list, fmt.Sprintf("%s is not invited: parley party invite %s%s", a, a, words))
		}
	}
	if o.Team != "" && o.Team != f.Team {
		list = append(list, fmt.Sprintf("it is not of the team %q: a party keeps the team with which it began", o.Team))
	}
	if o.Anchor != "" && o.Anchor != f.Anchor {
		list = append(list, fmt.Sprintf("it does not hang on %s: a party keeps the issue with which it began", o.Anchor))
	}
	changed := f.Rules
	if err := changed.Override(rules); rules != "" && err == nil && changed != f.Rules {
		list = append(list, fmt.Sprintf("its rules stay: parley party rules KEY=VALUE%s changes them", words))
	}
	return list
}

// invited are the agents that are asked into a party and have not answered.
func invited(f found) (list []protocol.Address) {
	for _, g := range f.Gates {
		if g.For == parties.ForInvite && g.Waits() {
			list = append(list, g.Whom)
		}
	}
	return list
}

func (p *Parties) announceParty(ctx context.Context, by control.Caller, who collab.Acting, f found, r control.Announcing, what string, invited []protocol.Address) *control.Announcement {
	apart := invited[:len(invited):len(invited)]
	for _, m := range f.Members {
		apart = append(apart, m.Address())
	}
	return p.announce(ctx, by, who, f, announcing{Announcing: r, what: what, apart: apart, cross: p.crosses(f, invited)})
}

// needsConsent reports whether a human is to agree first that agents of other hosts are told.
func (p *Parties) needsConsent(human string, r control.Announcing, f found, more []protocol.Address) bool {
	return human != "" && r.Broadcast && !r.Quiet && f.Team == "" && p.crosses(f, more)
}

// announcedLater refuses that an agent has others told of what its human has not agreed to yet.
func announcedLater(r control.Announcing) error {
	if !r.Broadcast {
		return nil
	}
	return control.Errorf(control.KindRefused, "leave --broadcast out; when your human has agreed: parley party organize NAME --broadcast",
		"nobody can be told of it before a human agrees to it")
}

// after fills in what a party is after something was done in it, and which gate now waits for a
// human.
func (p *Parties) after(done *control.PartyDeed, channel protocol.ChannelID, me string, paths []protocol.Path) {
	p.Folded(func(s *fleet.State) {
		f := p.in(s, channel)
		done.Party = p.whole(s, f, me)
		for _, path := range paths {
			if g := f.Gate(path); g != nil && g.Waits() {
				v := p.gate(s, f, g)
				done.Gate = &v
			}
		}
	})
}

// Deed answers control.DoInParty.
func (p *Parties) Deed(ctx context.Context, by control.Caller, r control.PartyDeedRequest) (control.PartyDeed, error) {
	who, err := p.acts(by, r.Acting, false)
	if err != nil {
		return control.PartyDeed{}, err
	}
	done := control.PartyDeed{Me: who.Me, Chosen: who.Chosen, Messages: []string{}, Failed: []string{}}
	var f found
	var command affair.Command
	p.Folded(func(s *fleet.State) {
		f, err = p.find(s, who.Me, r.Party)
		if leaders[r.Deed] && who.Human != "" && (err != nil || !f.Begun() || f.Leader.Human != who.Human) {
			f, err = p.find(s, who.Human, r.Party) // one that their human leads
		}
		if err != nil {
			return
		}
		command, err = p.command(s, who, f, r, &done)
	})
	if err == nil && r.Try {
		done.Party.Name = f.Name
		return done, nil
	}
	if err != nil {
		return done, writing.Problem("do that in the party", err)
	}
	if done.Gate != nil {
		done.Comments = postInvites(ctx, p, f.channel, time.Time{})
		return done, nil
	}
	if done.Plan.Decides != "" {
		if err := p.Signed(protocol.HumanDecision{Act: done.Plan.Act, Reason: done.Plan.Decides}, r.Hsig); err != nil {
			return done, err
		}
	}
	if r.Deed == protocol.ActLeave { // Nothing is Deleted: what the member held when it left is summed up (seed, "leave")
		if err := p.standing.SumUp(ctx, by, who.Me, f.Slug, each.Of(f.Members, func(m party.Member) string { return m.Name })); err != nil {
			done.Failed = append(done.Failed, "final checkpoint: "+err.Error())
		}
	}
	if whom, none := protocol.ParseAddress(strings.Join(done.Plan.With, "")); r.Introduce && none == nil && whom.Host != "" && who.Human != "" {
		if err := p.introduce(ctx, by, who, f, whom); err != nil {
			return done, writing.Problem("introduce "+who.Me, err)
		}
	}
	paths, err := p.Do(ctx, by, command)
	if err != nil {
		return done, writing.Problem(doing(r.Deed), err)
	}
	done.Messages = append(done.Messages, each.Of(paths, protocol.Path.String)...)
	p.after(&done, f.channel, who.Me, paths)
	if r.Deed == protocol.ActRemove && done.Plan.With[0] != (protocol.Address{Name: who.Me, Host: p.Host.String()}).String() {
		text := fmt.Sprintf("[party:%s] %s is no member any more, by %s: %s", f.Name, done.Plan.With[0], f.Leader.Human, r.Reason)
		if _, err := p.Send(ctx, by, control.SendRequest{As: who.Me, To: done.Plan.With, Channel: f.channel.String(), Act: protocol.ActTell, Re: paths[0].String(), Body: text}); err != nil {
			done.Failed = append(done.Failed, "telling it: "+err.Error())
		}
	}
	if r.Deed == protocol.ActLeave {
		p.notice(ctx, by, who.Me, f, who.Me+" left "+f.Name)
	}
	if r.Deed == protocol.ActInvite && done.Gate != nil && done.Gate.For == parties.ForInvite {
		done.Comments = postInvites(ctx, p, f.channel, paths[0].Time())
		whom, _ := protocol.ParseAddress(done.Gate.Whom)
		what := fmt.Sprintf("invite:%s to %s", whom.Name, f.Name)
		done.Announced = p.announce(ctx, by, who, f, announcing{Announcing: r.Announcing, what: what, apart: []protocol.Address{whom}, cross: p.crosses(f, []protocol.Address{whom})})
	}
	return done, nil
}

// doing names a deed in words that can follow "cannot".
func doing(act protocol.Act) string {
	words := map[protocol.Act]string{
		protocol.ActInvite: "invite", protocol.ActPartyJoin: "ask to be let in", protocol.ActLeave: "leave", protocol.ActRemove: "remove the member", protocol.ActRules: "change the rules",
		protocol.ActPartyAgree: "put the agreement", protocol.ActVote: "vote", protocol.ActTask: "add the task", protocol.ActTake: "take the task", protocol.ActDone: "end the task",
		protocol.ActGiveBack: "give the task back", protocol.ActLease: "reserve it", protocol.ActRelease: "release it", protocol.ActPresence: "say that",
	}
	return cmp.Or(words[act], string(act))
}

// leaders are the deeds that only a party's leader does, in their own name.
var leaders = map[protocol.Act]bool{protocol.ActRemove: true, protocol.ActRules: true}

// needs returns an error if a request lacks a value that its deed needs.
func needs(deed protocol.Act, what, value string) error {
	if strings.TrimSpace(value) != "" {
		return nil
	}
	return control.Errorf(control.KindUsage, "", "cannot %s: it needs %s", doing(deed), what)
}

// command returns the command that a request asks for. It notes in done.Plan which part of it a
// human signs. It is asked while the state is read.
func (p *Parties) command(s *fleet.State, who collab.Acting, f found, r control.PartyDeedRequest, done *control.PartyDeed) (affair.Command, error) {
	done.Plan = control.PartyPlan{Me: who.Me, Leader: f.Leader.Human, Party: f.Organized.String(), Act: r.Deed, With: []string{}}
	me := p.actor(s, who.Me, who.Human, r.Hsig)
	switch r.Deed {
	case protocol.ActInvite:
		return p.invite(s, me, f, r, done)
	case protocol.ActPartyJoin:
		if me.Human != "" {
			done.Plan.Decides = protocol.JoinDecides(f.Organized, protocol.Address{Name: me.Me, Host: me.Host.String()})
		}
		return me.Join(f.channel, r.Reason, humansOf(s, p.Host)), nil
	case protocol.ActRemove:
		return remove(me, f, r, done)
	case protocol.ActRules:
		me.At = cmp.Or(r.At, p.Now())
		return changeRules(me, f, r, done)
	case protocol.ActVote:
		return vote(me, f, r, done)
	case protocol.ActRelease:
		path, err := f.reservation(r.Item, protocol.Address{Name: me.Me, Host: me.Host.String()})
		return me.Release(f.channel, path), err
	case protocol.ActLease:
		return me.Lease(f.channel, r.Things, r.For.Duration(), r.Reason), needs(r.Deed, "what", strings.Join(r.Things, ""))
	case protocol.ActLeave:
		return me.Leave(f.channel, r.Reason), nil
	case protocol.ActPartyAgree:
		return me.Agree(f.channel, r.Text), needs(r.Deed, "a text", r.Text)
	case protocol.ActTask:
		return me.AddTask(f.channel, r.Text), needs(r.Deed, "a text", r.Text)
	case protocol.ActTake:
		return me.Take(f.channel, r.Item, r.For.Duration()), needs(r.Deed, "the task", r.Item)
	case protocol.ActDone, protocol.ActGiveBack:
		return me.EndTask(f.channel, r.Item, r.Deed, r.Text), needs(r.Deed, "the task", r.Item)
	}
	return affair.Command{}, control.Errorf(control.KindUsage, "", "%q is nothing to do in a party", r.Deed)
}

// invite invites another agent, if a human has it done. If an agent asks, it asks that agent's
// human to invite it. It is asked while the state is read.
func (p *Parties) invite(s *fleet.State, me parties.Actor, f found, r control.PartyDeedRequest, done *control.PartyDeed) (affair.Command, error) {
	if err := needs(r.Deed, "whom", r.Whom); err != nil {
		return affair.Command{}, err
	}
	whom, err := invitee(s, p.standing, me.Me, r.Whom, f.Anchor)
	if err != nil {
		return affair.Command{}, err
	}
	if g := f.Invited(whom); whom.Host == "" && g != nil { // it is on the issue, or is told there now
		v := p.gate(s, f, g)
		done.Gate = &v
		return affair.Command{}, nil
	}
	done.Plan.With = []string{whom.String()}
	if me.Human == "" {
		if err := announcedLater(r.Announcing); err != nil {
			return affair.Command{}, err
		}
		return me.Wish(f.channel, protocol.Wish{For: protocol.WishInvite, Whom: whom}, humansOf(s, p.Host)), p.mayAsk(s, me.Me)
	}
	done.Plan.Decides = protocol.InviteDecides(f.Organized, whom)
	done.Plan.Consent = p.needsConsent(me.Human, r.Announcing, f, []protocol.Address{whom})
	return me.Invite(f.channel, whom, humansOf(s, protocol.Name(whom.Host)), p.window(s, whom), protocol.Path{}), nil
}

func remove(me parties.Actor, f found, r control.PartyDeedRequest, done *control.PartyDeed) (affair.Command, error) {
	if err := cmp.Or(needs(r.Deed, "whom", r.Whom), needs(r.Deed, "a reason: --reason", r.Reason)); err != nil {
		return affair.Command{}, err
	}
	whom, err := f.memberLike(r.Whom)
	if err != nil {
		return affair.Command{}, err
	}
	done.Plan.With = []string{whom.String()}
	done.Plan.Decides = protocol.Removal{Whom: whom, Reason: r.Reason}.Decides(f.Member(whom.Name, protocol.Name(whom.Host)).By)
	me, err = f.leader(me, r.Deed)
	return me.Remove(f.channel, whom, r.Reason), err
}

func changeRules(me parties.Actor, f found, r control.PartyDeedRequest, done *control.PartyDeed) (affair.Command, error) {
	change := protocol.RuleChange{FormHead: protocol.FormHead{At: me.At}}
	for _, word := range r.Set {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return affair.Command{}, control.Errorf(control.KindUsage, "they are: "+strings.Join(protocol.PartyRuleNames(), ", "), "%q is not of the form RULE=VALUE", word)
		}
		change.Set = append(change.Set, protocol.RuleValue{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if err := needs(r.Deed, "a rule, as RULE=VALUE", change.Words()); err != nil {
		return affair.Command{}, err
	}
	done.Plan.Decides, done.Plan.At = change.Decides(f.Organized), me.At
	me, err := f.leader(me, r.Deed)
	return me.SetRules(f.channel, change.Set, r.Reason), err
}

// leader returns the party's leader as the actor of a deed that only the leader does, in their own
// name. It returns an error if `me` does not act for the leader.
func (f found) leader(me parties.Actor, deed protocol.Act) (parties.Actor, error) {
	if me.Human == "" || me.Human != f.Leader.Human {
		return me, control.Errorf(control.KindRefused, "", "cannot %s: %s leads %q, from %s", doing(deed), f.Leader.Human, f.Name, f.Leader.Host)
	}
	me.Me = me.Human
	return me, nil
}

// vote is the vote of a member, or of the leader if the leader settles the matter.
func vote(me parties.Actor, f found, r control.PartyDeedRequest, done *control.PartyDeed) (affair.Command, error) {
	pr := f.Proposal(protocol.Path{}, protocol.ParseItemRef(r.Item).Label)
	switch {
	case pr == nil:
		return affair.Command{}, control.Errorf(control.KindNotFound, "see: parley who", "%q has no agreement %q", f.Name, r.Item)
	case !r.Accept && strings.TrimSpace(r.Reason) == "":
		return affair.Command{}, control.Errorf(control.KindUsage, "", "cannot decline %s: it needs a reason: --reason", pr.Label)
	}
	if pr.Mode == protocol.ConsensusLeader {
		if me.Human == "" {
			return affair.Command{}, control.Errorf(control.KindRefused, "", "cannot vote: %s settles what %q agrees on", f.Leader.Human, f.Name)
		}
		me.Me = me.Human
		v := protocol.Vote{Item: protocol.ItemRef{Label: pr.Label, Text: pr.Text}, Accept: r.Accept, Reason: r.Reason}
		done.Plan.Decides = v.Decides(pr.Path)
	}
	return me.Vote(f.channel, r.Item, r.Accept, r.Reason), nil
}

func (f found) memberLike(text string) (protocol.Address, error) {
	want, err := protocol.ParseAddress(text)
	if err != nil {
		return protocol.Address{}, control.Errorf(control.KindUsage, "", "%v", err)
	}
	var fit []protocol.Address
	for _, m := range f.Members {
		if m.Name == want.Name && (want.Host == "" || m.Host.String() == want.Host) {
			fit = append(fit, m.Address())
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return protocol.Address{}, control.Errorf(control.KindNotFound, "see: parley who", "%q is no member of %q", text, f.Name)
	}
	return protocol.Address{}, control.Errorf(control.KindUsage, "name one: "+strings.Join(each.Of(fit, protocol.Address.String), ", "), "%d members are called %q", len(fit), text)
}

// reservation returns the reservation of a holder that a text names, by a thing or by its path.
// Without a text, it returns the only one that the holder has.
func (f found) reservation(text string, holder protocol.Address) (protocol.Path, error) {
	var own []*party.Lease
	for _, l := range f.Leases {
		if l.Holder == holder && l.Ended.IsZero() && (text == "" || l.Path.String() == text || slices.Contains(l.Things, text)) {
			own = append(own, l)
		}
	}
	switch len(own) {
	case 1:
		return own[0].Path, nil
	case 0:
		return protocol.Path{}, control.Errorf(control.KindNotFound, "see: parley who", "%s has reserved no such thing", holder)
	}
	return protocol.Path{}, control.Errorf(control.KindUsage, "name the thing", "%s has %d reservations", holder, len(own))
}

// Package parties is the affair of agents and humans who do something together. It says who leads,
// who is a member, and who was invited with what result. It says which rules hold, what was agreed,
// and what is to be done and by whom.
//
// The channel of a party follows from its first deed. So nobody takes the place of another party,
// and two parties with the same name are two. A human leads it. What only humans decide is a gate:
// the message that asks shows all there is to know, and a key of a human whom it concerns signs the
// answer (R35, R38). Agents, time and silence decide nothing.
//
// Values say what the record says. What depends on several affairs, such as how far members are in
// sync or which parties make up a team, is computed by whoever asks.
package parties

import (
	"errors"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Party is one party. It does not change.
type Party struct {
	Organized protocol.Path // the message that began it; zero if there is none: then the channel is a topic's, with wishes to tell others of it
	Name      string
	Slug      protocol.Slug
	Team      string // a tag; empty: none
	Anchor    string // the issue on which it hangs; empty: none
	Leader    Leader
	Created   time.Time
	Rules     protocol.PartyRules
	Wanted    []protocol.Address // those whom its first deed names as to be invited

	Members   []party.Member    // in the order in which they came
	Left      []party.Departure // former members, in the order in which they went
	Gates     []*Gate           // in the order of the record: what humans are asked, and what they said
	Proposals []*party.Proposal // in the order of the record
	Tasks     []*party.Task     // in the order of the record
	Leases    []*party.Lease    // reservations, over or not, in the order of the record
	changes   []string          // the leader's signatures of changes of the rules
	LastDeed  time.Time         // the latest time that a deed states
}

// Leader is the human who leads a party, and the agent through which they act.
type Leader struct {
	Human string
	Host  protocol.Name
	Key   string // the human's key when the party began; empty: none
	Via   string
}

// KindName is the name of the kind.
const KindName = "party"

// Kind is the kind of affair that parties are, in the record with that id. There is at most one in
// a channel.
func Kind(recordID string) *affair.Kind[Party] {
	return &affair.Kind[Party]{
		Name: KindName,
		Acts: []protocol.ActSpec{
			protocol.Organize.ActSpec, protocol.Invite.ActSpec, protocol.JoinParty.ActSpec, protocol.AskHuman.ActSpec,
			protocol.AcceptGate.ActSpec, protocol.RejectGate.ActSpec, protocol.DeferGate.ActSpec,
			protocol.LeaveParty.ActSpec, protocol.RemoveMember.ActSpec, protocol.SetRules.ActSpec, protocol.SayPresence.ActSpec,
			protocol.ProposeToParty.ActSpec, protocol.VoteInParty.ActSpec,
			protocol.AddTask.ActSpec, protocol.TakeTask.ActSpec, protocol.FinishTask.ActSpec, protocol.GiveTaskBack.ActSpec,
			protocol.Lease.ActSpec, protocol.Release.ActSpec,
		},
		Of:    func(m *protocol.Message) (string, bool) { return m.Path.Channel().String(), true },
		Hands: true,
		Begin: func(string) Party { return Party{} },
		Step: func(p Party, d affair.Deed) (Party, error) {
			next, err := p.step(recordID, d)
			if err == nil && d.Timestamp.After(p.LastDeed) { // a clock that is behind does not turn time back
				next.LastDeed = d.Timestamp
			}
			return next, err
		},
		At: Party.at,
	}
}

// step is the party after a deed. The error says why the deed is void. A host must sign every deed
// of a party: anybody who writes to the record could say what an unsigned deed says.
func (p Party) step(recordID string, d affair.Deed) (Party, error) {
	if d.Standing != affair.Signed {
		return p, errors.New("no host has signed it, as all deeds of parties are")
	}
	if d.Act == protocol.ActOrganize {
		return p.organize(recordID, d)
	}
	answers := d.Act == protocol.ActPartyAccept || d.Act == protocol.ActPartyReject || d.Act == protocol.ActPartyDefer
	switch none := p.Organized.IsZero(); {
	case answers && (!none || len(p.Gates) > 0):
		return affair.Said(words(d.Act), Party.answer)(p, d)
	case none && d.Act == protocol.ActWish:
		return affair.Said(protocol.AskHuman, Party.wish)(p, d)
	case none:
		return p, refusal.New(refusal.Unknown, "organize one first", "there is no party in this channel")
	case !p.Begun():
		return p, refusal.New(refusal.Forbidden, "the human decides it: parley gates", "%q has not begun: %s has not agreed to it", p.Name, p.Leader.Human)
	}
	if step := decided[d.Act]; step != nil {
		return step(p, d)
	}
	if p.memberWho(d) == nil {
		return p, notMember(p, d.Author().Name)
	}
	return ofMembers[d.Act](p, d)
}

// decided are the steps of deeds that not only members do: they say themselves who may. The leader
// votes if it is theirs to settle.
var decided = map[protocol.Act]affair.Step[Party]{
	protocol.ActPartyJoin: affair.Said(protocol.JoinParty, Party.join),
	protocol.ActRules:     affair.Said(protocol.SetRules, Party.change),
	protocol.ActRemove:    affair.Said(protocol.RemoveMember, Party.remove),
	protocol.ActVote:      affair.Said(protocol.VoteInParty, Party.vote),
}

// ofMembers are the steps of what members do.
var ofMembers = map[protocol.Act]affair.Step[Party]{
	protocol.ActInvite:     affair.Said(protocol.Invite, Party.invite),
	protocol.ActWish:       affair.Said(protocol.AskHuman, Party.wish),
	protocol.ActLeave:      affair.Said(protocol.LeaveParty, Party.leave),
	protocol.ActPresence:   affair.Said(protocol.SayPresence, Party.present),
	protocol.ActPartyAgree: affair.Said(protocol.ProposeToParty, Party.propose),
	protocol.ActTask:       affair.Said(protocol.AddTask, Party.addTask),
	protocol.ActTake:       affair.Said(protocol.TakeTask, Party.take),
	protocol.ActDone:       affair.Said(protocol.FinishTask, Party.endTask),
	protocol.ActGiveBack:   affair.Said(protocol.GiveTaskBack, Party.endTask),
	protocol.ActLease:      affair.Said(protocol.Lease, Party.lease),
	protocol.ActRelease:    affair.Said(protocol.Release, Party.release),
}

func notMember(p Party, who string) error {
	return refusal.New(refusal.Forbidden, "ask to be let in: parley party join "+p.Slug.String(), "%s is no member of %q", who, p.Name)
}

// Begun reports whether the party has begun: its leader has organized it, or has agreed to what an
// agent proposed.
func (p Party) Begun() bool {
	return !p.Organized.IsZero() && (len(p.Gates) == 0 || p.Gates[0].For != ForOrganize || p.Gates[0].Outcome() == party.Accepted)
}

// Over reports whether the party is over: it has begun, and all have left.
func (p Party) Over() bool { return p.Begun() && len(p.Members) == 0 }

// EndedAt is when the last member left a party that is over.
func (p Party) EndedAt() time.Time {
	if !p.Over() || len(p.Left) == 0 {
		return time.Time{}
	}
	return p.Left[len(p.Left)-1].Time
}

// Member is the member with that name and host; nil if there is none.
func (p Party) Member(name string, host protocol.Name) *party.Member {
	for i := range p.Members {
		if p.Members[i].Name == name && p.Members[i].Host == host {
			return &p.Members[i]
		}
	}
	return nil
}

func (p Party) memberWho(d affair.Deed) *party.Member { return p.Member(d.Author().Name, d.Host) }

// organize begins the party. If a human had it done, that is their decision. Otherwise the deed is
// the first gate, and the human of the agent decides.
func (p Party) organize(recordID string, d affair.Deed) (Party, error) {
	o, err := protocol.Organize.Parse(d.Body)
	if err != nil {
		return p, affair.Malformed(err)
	}
	slug, err := protocol.SlugOf(o.Topic)
	switch {
	case err != nil:
		return p, affair.Malformed(err)
	case protocol.PartyChannel(recordID, d.Host, slug, o.At) != d.Message.Path.Channel():
		return p, errors.New("this is not the channel that follows from it")
	case !p.Organized.IsZero():
		return p, refusal.New(refusal.Forbidden, "", "%q is organized already", p.Name)
	case o.From != d.Author().Name:
		return p, errors.New("another one wrote it than it says")
	}
	p = Party{
		Organized: d.Message.Path, Name: o.Topic, Slug: slug, Team: o.Team, Anchor: o.Anchor, Created: d.Timestamp, Rules: o.Rules, Wanted: o.With,
		Leader: Leader{Human: o.Leader.String(), Host: d.Host, Via: o.From},
	}
	via := party.Member{Name: o.From, Host: d.Host, Initiator: true, Joined: d.Timestamp, By: d.Message.Path, Presence: protocol.PresenceActive, Since: d.Timestamp}
	if d.Message.Human == "" {
		p.Gates = []*Gate{{Path: d.Message.Path, Hash: d.Hash, For: ForOrganize, By: o.From, Host: d.Host, Deciders: []protocol.Name{o.Leader}, At: d.Timestamp, Whom: via.Address(), From: d.Origin()}}
		return p, nil
	}
	if d.Message.Human != p.Leader.Human {
		return p, refusal.New(refusal.Forbidden, "", "%s had it organized, and it names %s as the leader", d.Message.Human, p.Leader.Human)
	}
	if err := typed(d, o.Decides()); err != nil {
		return Party{}, err
	}
	p.Leader.Key = d.Hand.Key
	p.Members = []party.Member{via}
	return p, nil
}

// typed returns an error if the human whom an agent's deed names did not order it: the host has no
// such human, or did not know who called, or the human's own key did not sign it.
func typed(d affair.Deed, decides string) error {
	if !d.Hand.Here {
		return refusal.New(refusal.Forbidden, "", "%s is no human of %s who was known to call", d.Message.Human, d.Host)
	}
	if err := d.Decided(protocol.Path{}, "", decides, time.Time{}, ""); err != nil {
		return refusal.New(refusal.Forbidden, "", "%s", err)
	}
	return nil
}

// leads returns an error if a deed is not the leader's: it must come from the leader's host, or be
// signed with the key that the leader had.
func (p Party) leads(d affair.Deed, decides string) error {
	who := d.Message.Human
	if who != p.Leader.Human || d.Host != p.Leader.Host && (d.Hand.Key == "" || d.Hand.Key != p.Leader.Key) {
		return refusal.New(refusal.Forbidden, "", "%s leads %q, from %s", p.Leader.Human, p.Name, p.Leader.Host)
	}
	return typed(d, decides)
}

func (p Party) change(d affair.Deed, c protocol.RuleChange) (Party, error) {
	if err := p.leads(d, c.Decides(p.Organized)); err != nil {
		return p, err
	}
	if d.Hsig != "" && slices.Contains(p.changes, d.Hsig) {
		return p, refusal.New(refusal.Forbidden, "", "it is a copy of what %s decided once", p.Leader.Human)
	}
	for _, v := range c.Set {
		if err := p.Rules.Set(v.Name, v.Value); err != nil {
			return p, refusal.New(refusal.Senseless, "", "%s", err)
		}
	}
	p.changes = affair.Added(p.changes, d.Hsig)
	return p, nil
}

// remove ends the membership of another one.
func (p Party) remove(d affair.Deed, r protocol.Removal) (Party, error) {
	m := p.Member(r.Whom.Name, protocol.Name(r.Whom.Host))
	if m == nil {
		return p, refusal.New(refusal.Unknown, "", "%s is no member of %q", r.Whom, p.Name)
	}
	if err := p.leads(d, r.Decides(m.By)); err != nil {
		return p, err
	}
	return p.without(party.Departure{Member: *m, Time: d.Timestamp, By: d.Message.Human, Reason: r.Reason, Removed: true, Path: d.Message.Path}), nil
}

// leave ends its author's membership.
func (p Party) leave(d affair.Deed, l protocol.Leaving) (Party, error) {
	m := p.memberWho(d)
	return p.without(party.Departure{Member: *m, Time: d.Timestamp, By: m.Name, Reason: l.Reason, Path: d.Message.Path}), nil
}

// without is the party without a member, whose tasks and reservations become free.
func (p Party) without(gone party.Departure) Party {
	p.Members = slices.DeleteFunc(slices.Clone(p.Members), func(m party.Member) bool { return m.Name == gone.Name && m.Host == gone.Host })
	p.Left = affair.Added(p.Left, gone)
	p.Tasks = affair.Changed(p.Tasks, func(t *party.Task) bool { return t.Done == nil && t.Taker == gone.Address() }, (*party.Task).Free)
	p.Leases = affair.Changed(p.Leases, func(l *party.Lease) bool { return l.Holder == gone.Address() && l.Ended.IsZero() }, func(l *party.Lease) { l.Ended = gone.Time })
	return p
}

func (p Party) present(d affair.Deed, n protocol.PresenceNote) (Party, error) {
	p.Members = slices.Clone(p.Members)
	m := p.memberWho(d)
	m.Presence, m.Note, m.Since = n.State, n.Note, d.Timestamp
	return p, nil
}

// at is the party at the time `now`, with what has run out by then.
func (p Party) at(now time.Time) Party {
	p.Gates = affair.Changed(p.Gates, func(g *Gate) bool { return g.expires(now) }, func(g *Gate) { g.Expired = true })
	p.Tasks = affair.Changed(p.Tasks, func(t *party.Task) bool { return t.Done == nil && t.Taker.Name != "" && !now.Before(t.Until) }, func(t *party.Task) {
		t.Free()
		t.Lapsed = true
	})
	p.Leases = affair.Changed(p.Leases, func(l *party.Lease) bool { return l.Ended.IsZero() && !now.Before(l.Until) }, func(l *party.Lease) { l.Ended = l.Until })
	return p
}

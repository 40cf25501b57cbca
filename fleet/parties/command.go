package parties

import (
	"cmp"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Actor is the one who does something in a party. Its methods are the commands of parties. Each
// gives one deed, or a refusal with the reason why such a deed would be void.
type Actor affair.Actor

// deed is an act with its words, the message that it answers, and its addressees.
type deed struct {
	act  protocol.Act
	re   protocol.Path
	body string
	to   []protocol.Address
}

// command makes a command that gives one deed of the party in a channel. The deed is tried on the
// value first, and what would be void is refused.
func (a Actor) command(channel protocol.ChannelID, decide func(p Party, head protocol.FormHead) (deed, error)) affair.Command {
	kind := Kind(a.Record)
	return kind.Command(channel.String(), func(p Party, now time.Time) ([]affair.Draft, error) {
		now = now.UTC().Truncate(time.Millisecond)
		d, err := decide(p, protocol.FormHead{From: a.Me, Topic: p.Name, At: now})
		if err != nil {
			return nil, affair.Refused(err)
		}
		m := protocol.Message{To: d.to, Act: d.act, Body: d.body}
		if !d.re.IsZero() {
			m.Re = protocol.Refer(channel, d.re)
		}
		return kind.Does(affair.Actor(a), p, m, channel, now)
	})
}

func human(name string, host protocol.Name) protocol.Address {
	return protocol.Address{Name: name, Host: host.String()}
}

func humans(names []protocol.Name, host protocol.Name) []protocol.Address {
	return each.Of(names, func(name protocol.Name) protocol.Address { return human(name.String(), host) })
}

// Noticed are those who are told who came, went or changed the rules: the members without `but` on
// `host`. If the rule broadcast_scope is none, nobody is told.
func (p Party) Noticed(but string, host protocol.Name) []protocol.Address {
	if p.Rules.BroadcastScope == protocol.ScopeNone {
		return nil
	}
	return p.Told(but, host)
}

// Told are those who are told what is said in the party: its members without `but` on `host`.
func (p Party) Told(but string, host protocol.Name) []protocol.Address {
	var to []protocol.Address
	for _, m := range p.Members {
		if m.Name != but || m.Host != host {
			to = append(to, m.Address())
		}
	}
	return to
}

// withLeader adds the leader, who is no member, to a list, unless the leader is `but`.
func (p Party) withLeader(to []protocol.Address, but string) []protocol.Address {
	if leader := human(p.Leader.Human, p.Leader.Host); p.Leader.Human != but && !slices.Contains(to, leader) {
		return append(to, leader)
	}
	return to
}

// Organize begins a party at the time o.At, from which its channel is made.
func (a Actor) Organize(o protocol.Organizing) (affair.Command, protocol.ChannelID, error) {
	o.At = o.At.UTC().Truncate(time.Millisecond)
	o.From = a.Me
	slug, err := protocol.SlugOf(o.Topic)
	if err != nil {
		return affair.Command{}, "", refusal.New(refusal.Senseless, "", "%s", err)
	}
	if err := protocol.CheckFileName(slug.String()); err != nil {
		return affair.Command{}, "", refusal.New(refusal.Senseless, "choose another name", "cannot organize the party: %s", err)
	}
	channel := protocol.PartyChannel(a.Record, a.Host, slug, o.At)
	return a.command(channel, func(_ Party, _ protocol.FormHead) (deed, error) {
		d := deed{act: protocol.ActOrganize, body: protocol.Organize.Format(o)}
		if a.Human == "" {
			d.to = []protocol.Address{human(o.Leader.String(), a.Host)}
		}
		return d, nil
	}), channel, nil
}

// Invite invites an agent. A human had it done or, if not, agreed to it before at the gate
// `agreed`. `window` is how long the invite stays open; zero: for ever.
func (a Actor) Invite(channel protocol.ChannelID, whom protocol.Address, deciders []protocol.Name, window time.Duration, agreed protocol.Path) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		i := protocol.Invitation{FormHead: head, Human: cmp.Or(a.Human, p.Leader.Human), Whom: whom, Deciders: deciders, Anchor: p.Anchor, Rules: p.Rules}
		if g := p.Gate(agreed); g != nil && g.Verdict() != nil {
			i.Human = g.Verdict().By
		}
		if window > 0 {
			i.AnswerBy = head.At.Add(window)
		}
		return deed{protocol.ActInvite, agreed, protocol.Invite.Format(i), append([]protocol.Address{whom}, humans(deciders, protocol.Name(whom.Host))...)}, nil
	})
}

// Wish asks humans of this host for something that an agent may not do alone. In the channel of a
// topic, w.Topic is its name.
func (a Actor) Wish(channel protocol.ChannelID, w protocol.Wish, asked []protocol.Name) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		if p.Organized.IsZero() {
			head.Topic = w.Topic
		}
		w.FormHead = head
		return deed{act: protocol.ActWish, body: protocol.AskHuman.Format(w), to: humans(asked, a.Host)}, nil
	})
}

// AnswerTo is what a human decides at a gate.
type AnswerTo struct {
	Gate      protocol.Path
	Act       protocol.Act // one of the acts that answer gates of parties
	Reason    string
	Until     time.Time
	TakesBack string
	protocol.Sight
}

// Answer answers a gate. The party and the one who asked are told what was decided.
func (a Actor) Answer(channel protocol.ChannelID, r AnswerTo) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		g := p.Gate(r.Gate)
		if g == nil {
			return deed{}, refusal.New(refusal.Unknown, "see what waits: parley gates", "nothing of %q is asked there", p.Name)
		}
		if r.Act == protocol.ActPartyDefer && !r.Until.After(head.At) {
			return deed{}, refusal.New(refusal.Senseless, "", "%s is over", r.Until.Format(time.RFC3339))
		}
		if v := g.Verdict(); v != nil && v.Act == r.Act && r.Act != protocol.ActPartyDefer && r.TakesBack == "" {
			return deed{}, refusal.New(refusal.Forbidden, "", "it is %s already", g.Outcome())
		}
		to := p.Noticed("", "")
		switch g.For {
		case ForWish, ForBroadcast:
			to = nil
		case ForAsking: // by that, the leader is asked
			to = p.withLeader(nil, "")
		}
		for _, one := range []protocol.Address{{Name: g.By, Host: p.hostOf(g).String()}, g.Whom} {
			if one.Name != "" && !slices.Contains(to, one) && (one != g.Whom || g.For != ForWish) {
				to = append(to, one)
			}
		}
		answer := protocol.GateAnswer{FormHead: head, Gate: g.Title(), Reason: r.Reason, Until: r.Until, TakesBack: r.TakesBack, Sight: r.Sight}
		return deed{r.Act, g.Path, words(r.Act).Format(answer), to}, nil
	})
}

// hostOf is the host that serves the one who asks at a gate.
func (p Party) hostOf(g *Gate) protocol.Name {
	switch g.For {
	case ForInvite:
		for _, m := range p.Members {
			if m.Name == g.By {
				return m.Host
			}
		}
		return p.Leader.Host
	case ForJoin:
		return protocol.Name(g.Whom.Host)
	}
	return g.Host
}

// Title is what a gate is about, in one line.
func (g *Gate) Title() string {
	by, whom := protocol.Address{Name: g.By}.Shown(), g.Whom.Shown()
	return cmp.Or(map[string]string{
		ForOrganize: by + " wants to organize a party",
		ForInvite:   "invite of " + whom,
		ForJoin:     whom + " asks to be let in",
		ForWish:     by + " wants to invite " + whom,
		ForAsking:   by + " wants to ask to be let in",
	}[g.For], by+" wants to tell agents of other hosts")
}

// Join asks the leader to let the actor in. If no human had it done, it asks the humans of the
// actor's host first.
func (a Actor) Join(channel protocol.ChannelID, reason string, asked []protocol.Name) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		d := deed{act: protocol.ActPartyJoin, body: protocol.JoinParty.Format(protocol.PartyJoin{FormHead: head, Reason: reason})}
		if a.Human != "" {
			d.to = p.withLeader(nil, "")
			return d, nil
		}
		d.to = humans(asked, a.Host)
		return d, nil
	})
}

// Leave ends the actor's own part.
func (a Actor) Leave(channel protocol.ChannelID, reason string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		return deed{act: protocol.ActLeave, body: protocol.LeaveParty.Format(protocol.Leaving{FormHead: head, Reason: reason}), to: p.withLeader(p.Noticed(a.Me, a.Host), "")}, nil
	})
}

// Remove ends the part of another member. Only the leader may.
func (a Actor) Remove(channel protocol.ChannelID, whom protocol.Address, reason string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		return deed{act: protocol.ActRemove, body: protocol.RemoveMember.Format(protocol.Removal{FormHead: head, Whom: whom, Reason: reason}), to: p.withWhom(p.Noticed("", ""), whom)}, nil
	})
}

// withWhom adds one more to a list, who is told in any case.
func (p Party) withWhom(to []protocol.Address, whom protocol.Address) []protocol.Address {
	if slices.Contains(to, whom) {
		return to
	}
	return append(to, whom)
}

// signedAt is the head of a form with the time at which its author's human signed it.
func (a Actor) signedAt(head protocol.FormHead) protocol.FormHead {
	if !a.At.IsZero() {
		head.At = a.At.UTC().Truncate(time.Millisecond)
	}
	return head
}

// SetRules changes rules. Only the leader may.
func (a Actor) SetRules(channel protocol.ChannelID, set []protocol.RuleValue, reason string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		return deed{act: protocol.ActRules, body: protocol.SetRules.Format(protocol.RuleChange{FormHead: a.signedAt(head), Set: set, Reason: reason}), to: p.Noticed("", "")}, nil
	})
}

// Present says how reachable the actor is, to those who are told by the rule of the party.
func (a Actor) Present(channel protocol.ChannelID, state protocol.Presence, note string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		d := deed{act: protocol.ActPresence, body: protocol.SayPresence.Format(protocol.PresenceNote{FormHead: head, State: state, Note: note})}
		if p.Rules.TellsPresence(state) {
			d.to = p.Told(a.Me, a.Host)
		}
		return d, nil
	})
}

// Agree puts an agreement to the party.
func (a Actor) Agree(channel protocol.ChannelID, text string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		to := p.Told(a.Me, a.Host)
		if p.Rules.ConsensusMode == protocol.ConsensusLeader {
			to = p.withLeader(to, "")
		}
		item := protocol.ItemRef{Label: nextLabel("A", len(p.Proposals)), Text: text}
		return deed{act: protocol.ActPartyAgree, body: protocol.ProposeToParty.Format(protocol.PartyProposal{FormHead: head, Item: item}), to: to}, nil
	})
}

// Vote accepts or declines an agreement that was put to the party. To decline needs a reason.
func (a Actor) Vote(channel protocol.ChannelID, item string, accept bool, reason string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		pr := p.Proposal(protocol.Path{}, protocol.ParseItemRef(item).Label)
		if pr == nil {
			return deed{}, refusal.New(refusal.Unknown, "", "%q has no agreement %q", p.Name, item)
		}
		v := protocol.Vote{FormHead: head, Item: protocol.ItemRef{Label: pr.Label, Text: pr.Text}, Accept: accept, Reason: reason}
		return deed{protocol.ActVote, pr.Path, protocol.VoteInParty.Format(v), p.withLeader(p.Told(a.Me, a.Host), a.Me)}, nil
	})
}

// AddTask puts something to do on the party's list.
func (a Actor) AddTask(channel protocol.ChannelID, text string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		item := protocol.ItemRef{Label: nextLabel("T", len(p.Tasks)), Text: text}
		return deed{act: protocol.ActTask, body: protocol.AddTask.Format(protocol.PartyTask{FormHead: head, Item: item}), to: p.Told(a.Me, a.Host)}, nil
	})
}

// onTask makes a command about a task. The other members are told.
func (a Actor) onTask(channel protocol.ChannelID, task string, act protocol.Act, body func(head protocol.FormHead, item protocol.ItemRef) string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		t := p.Task(protocol.Path{}, protocol.ParseItemRef(task).Label)
		if t == nil {
			return deed{}, refusal.New(refusal.Unknown, "see: parley party task list", "%q has no task %q", p.Name, task)
		}
		return deed{act, t.Path, body(head, protocol.ItemRef{Label: t.Label, Text: t.Text}), p.Told(a.Me, a.Host)}, nil
	})
}

// Take takes a task, or keeps it, for the time `hold`; zero: TakeFor.
func (a Actor) Take(channel protocol.ChannelID, task string, hold time.Duration) affair.Command {
	return a.onTask(channel, task, protocol.ActTake, func(head protocol.FormHead, item protocol.ItemRef) string {
		return protocol.TakeTask.Format(protocol.TaskTake{FormHead: head, Item: item, Until: head.At.Add(cmp.Or(hold, TakeFor))})
	})
}

// EndTask says that a task is done or, with the act party-give-back, that its taker does not do it.
func (a Actor) EndTask(channel protocol.ChannelID, task string, act protocol.Act, outcome string) affair.Command {
	says := protocol.FinishTask
	if act == protocol.ActGiveBack {
		says = protocol.GiveTaskBack
	}
	return a.onTask(channel, task, act, func(head protocol.FormHead, item protocol.ItemRef) string {
		return says.Format(protocol.TaskEnd{FormHead: head, Item: item, Outcome: outcome})
	})
}

// Lease reserves things for the time `hold`; zero: TakeFor.
func (a Actor) Lease(channel protocol.ChannelID, things []string, hold time.Duration, reason string) affair.Command {
	return a.command(channel, func(p Party, head protocol.FormHead) (deed, error) {
		r := protocol.Reservation{FormHead: head, Things: things, Until: head.At.Add(cmp.Or(hold, TakeFor)), Reason: reason}
		return deed{act: protocol.ActLease, body: protocol.Lease.Format(r), to: p.Told(a.Me, a.Host)}, nil
	})
}

// Release ends a reservation of the actor.
func (a Actor) Release(channel protocol.ChannelID, lease protocol.Path) affair.Command {
	return a.command(channel, func(_ Party, head protocol.FormHead) (deed, error) {
		return deed{act: protocol.ActRelease, re: lease, body: protocol.Release.Format(protocol.LeaseEnd{FormHead: head})}, nil
	})
}

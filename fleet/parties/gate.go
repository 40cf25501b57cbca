package parties

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// What a gate is for.
const (
	ForOrganize  = "organize"
	ForInvite    = "invite"
	ForJoin      = "join"
	ForBroadcast = "broadcast"
	ForWish      = "wish to invite"
	ForAsking    = "wish to join"
)

// Gate is a question to humans, and what they said. Those who may answer belong to one host. They
// are the deciders or, if none is named, any human of that host. Nobody else's answer counts, and
// neither does an answer that their own key has not signed.
type Gate struct {
	Path     protocol.Path // the message that asks
	Hash     string        // hash of its file
	For      string
	By       string        // who asks
	From     affair.Origin // whose key asks, and on whose behalf
	Human    string        // of an invite: on whose behalf, as its words say
	Host     protocol.Name
	Deciders []protocol.Name
	Whom     protocol.Address // the agent that it is about; without a host if it is asked on the issue alone
	Text     string           // of a broadcast or a join: what is to be said
	On       []protocol.Name  // of a broadcast: the hosts whose agents are told; empty: all
	At       time.Time
	Because  protocol.Path // of an invite by an agent: the message by which its human agreed to it
	AnswerBy time.Time     // the gate does not expire before; zero: it never does
	Answers  []Answer      // in the order of the record
	Expired  bool          // nobody answered in time. A late answer counts
	Moot     bool          // the agent that it is about came in by another gate
}

// Answer is what a human said at a gate.
type Answer struct {
	Path      protocol.Path
	Hash      string
	By        string
	Host      protocol.Name
	Key       string
	Open      bool // of the key: it is kept without a passphrase
	Act       protocol.Act
	At        time.Time
	Reason    string
	Until     time.Time
	TakesBack string
	Seen      string   // what they signed to have seen of the asker (protocol.Asker); empty if they did not
	Stray     bool     // another message stands at its place in its host's chain: the host's key is used in two places
	hsig      string   // the human's signature
	copies    []string // hashes of files that bear the same signature: they say nothing more
}

// is reports whether `hash` is the hash of the answer's file, or of a copy.
func (a Answer) is(hash string) bool { return a.Hash == hash || slices.Contains(a.copies, hash) }

// Contesting is the hash of the answer that has to be taken back to settle the gate: the first one
// that is stray or, if none is, the last of those that contradict each other.
func (g *Gate) Contesting() string {
	said := g.counted()
	for _, a := range said {
		if a.Stray {
			return a.Hash
		}
	}
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Act != protocol.ActPartyDefer {
			return said[i].Hash
		}
	}
	return ""
}

func (g *Gate) counted() []Answer {
	gone := func(a Answer) bool {
		return slices.ContainsFunc(g.Answers, func(b Answer) bool { return b.TakesBack != "" && a.is(b.TakesBack) && b.Key == a.Key })
	}
	return slices.DeleteFunc(slices.Clone(g.Answers), gone)
}

// Verdict is the answer that counts: the first one that is no deferral, else the last deferral. It
// is nil if there is none, or if the gate is contested: one key has said two things, or an answer
// is stray.
func (g *Gate) Verdict() *Answer {
	a, contested := g.verdict()
	if contested {
		return nil
	}
	return a
}

func (g *Gate) verdict() (first *Answer, contested bool) {
	said := g.counted()
	for i := range said {
		a := &said[i]
		contested = contested || a.Stray
		switch {
		case a.Act == protocol.ActPartyDefer && (first == nil || first.Act == protocol.ActPartyDefer):
			first = a
		case a.Act == protocol.ActPartyDefer:
		case first == nil || first.Act == protocol.ActPartyDefer:
			first = a
		case first.Key == a.Key && first.Act != a.Act:
			contested = true
		}
	}
	return first, contested
}

// Outcome is what came of the gate.
func (g *Gate) Outcome() party.Outcome {
	a, contested := g.verdict()
	switch {
	case contested:
		return party.Contested
	case a == nil && g.Expired:
		return party.Expired
	case a == nil:
		return party.Pending
	case a.Act == protocol.ActPartyAccept:
		return party.Accepted
	case a.Act == protocol.ActPartyReject:
		return party.Declined
	case g.Expired:
		return party.Expired
	}
	return party.Deferred
}

// Waits reports whether a human is still to decide.
func (g *Gate) Waits() bool {
	if g.Moot {
		return false
	}
	switch g.Outcome() {
	case party.Pending, party.Deferred, party.Contested, party.Expired:
		return true
	}
	return false
}

// expires reports whether the time for an answer is over at the time `now`.
func (g *Gate) expires(now time.Time) bool {
	end := g.AnswerBy
	if a, _ := g.verdict(); a != nil {
		if a.Act != protocol.ActPartyDefer {
			return false
		}
		end = a.Until
	}
	return !end.IsZero() && !now.Before(end)
}

// Gate is the gate that the message at `path` asks; nil if it asks none.
func (p Party) Gate(path protocol.Path) *Gate {
	return each.Find(p.Gates, func(g *Gate) bool { return g.Path == path })
}

// words reads and writes the bodies of an act that answers a gate.
func words(act protocol.Act) protocol.WordAct[protocol.GateAnswer] {
	switch act {
	case protocol.ActPartyAccept:
		return protocol.AcceptGate
	case protocol.ActPartyReject:
		return protocol.RejectGate
	}
	return protocol.DeferGate
}

func (p Party) answer(d affair.Deed, said protocol.GateAnswer) (Party, error) {
	re, ok := d.AnsweredPath()
	g := p.Gate(re)
	if !ok || g == nil {
		return p, refusal.New(refusal.Unknown, "", "it answers no gate of %q", p.Name)
	}
	if err := g.mayAnswer(d, said); err != nil {
		return p, err
	}
	before := g.Outcome()
	next := *g
	if i := slices.IndexFunc(g.Answers, func(a Answer) bool { return d.Hsig != "" && a.hsig == d.Hsig }); i >= 0 {
		// The deed is a copy of an answer. A human who decides the same again takes something back,
		// and that is signed too. If one of the two were void and the copy is dated before the
		// decision, the decision itself would be the void one. Then a deed that takes the decision
		// back would name an answer that nobody gave.
		next.Answers = slices.Clone(g.Answers)
		next.Answers[i].copies = affair.Added(next.Answers[i].copies, d.Hash)
		p.Gates = affair.Edited(p.Gates, g, func(g *Gate) { *g = next })
		return p, nil
	}
	next.Answers = affair.Added(g.Answers, Answer{
		d.Message.Path, d.Hash, d.Message.Human, d.Host, d.Hand.Key, d.Hand.Open, d.Act, d.Timestamp, said.Reason, said.Until, said.TakesBack, d.Saw(said.Sight), d.Hand.Stray, d.Hsig, nil,
	})
	if a, _ := g.verdict(); a != nil && a.Act != protocol.ActPartyDefer && said.TakesBack == "" && a.Key != d.Hand.Key {
		return p, refusal.New(refusal.Forbidden, "", "%s decided it before: it is %s", a.By, g.Outcome())
	}
	if a, _ := g.verdict(); a != nil && a.Act == d.Act && d.Act != protocol.ActPartyDefer && said.TakesBack == "" {
		return p, refusal.New(refusal.Forbidden, "", "it is %s already", g.Outcome())
	}
	p.Gates = affair.Edited(p.Gates, g, func(g *Gate) { *g = next })
	return p.follow(&next, before, d), nil
}

// mayAnswer returns an error if a deed is no answer to the gate that counts.
func (g *Gate) mayAnswer(d affair.Deed, said protocol.GateAnswer) error {
	who := protocol.Name(d.Message.Human)
	switch {
	case g.Host == "": // whoever writes a comment is not known (R34)
		return refusal.New(refusal.Forbidden, "", "no host serves %s, so nobody can decide for it: it comes in by a host that asks to join", g.Whom)
	case d.Host != g.Host:
		return refusal.New(refusal.Forbidden, "", "a human of %s decides it, and %s is another host", g.Host, d.Host)
	case who == "" || d.Author().Name != who.String() || !d.Human:
		return refusal.New(refusal.Forbidden, "", "a human decides it, and %s is none of %s", d.Author().Name, d.Host)
	case len(g.Deciders) > 0 && !slices.Contains(g.Deciders, who):
		return refusal.New(refusal.Forbidden, "", "%s does not decide it", who)
	case d.Hand.Key == "" && !d.Hand.Had:
		return refusal.New(refusal.Forbidden, "make one: parley gates key add "+who.String(), "%s has no key of their own, which a gate needs", who)
	}
	if err := d.Decided(g.Path, g.Hash, said.Reason, said.Until, said.TakesBack); err != nil {
		return refusal.New(refusal.Forbidden, "", "%s", err)
	}
	if said.TakesBack != "" && !slices.ContainsFunc(g.Answers, func(a Answer) bool { return a.is(said.TakesBack) && a.Key == d.Hand.Key }) {
		return refusal.New(refusal.Unknown, "", "it takes back what %s did not say", who)
	}
	return nil
}

func (p Party) follow(g *Gate, before party.Outcome, d affair.Deed) Party {
	now := g.Outcome()
	if g.For == ForAsking && now != before {
		// If the human agrees, the leader is asked by that. If they take it back, the leader is no
		// longer asked.
		p.Gates = slices.DeleteFunc(slices.Clone(p.Gates), func(o *Gate) bool { return o.For == ForJoin && o.Because == g.Path && o.Waits() })
		if now == party.Accepted {
			p.Gates = append(p.Gates, p.asked(d, g.Whom, g.Text, g.Path))
		}
		return p
	}
	if now == before || g.For != ForOrganize && g.For != ForInvite && g.For != ForJoin {
		return p
	}
	m := p.Member(g.Whom.Name, protocol.Name(g.Whom.Host))
	switch {
	case now == party.Accepted && m == nil:
		if g.For == ForOrganize {
			p.Leader.Key = d.Hand.Key
		}
		p.Members = affair.Added(p.Members, party.Member{
			Name: g.Whom.Name, Host: protocol.Name(g.Whom.Host), Initiator: g.For == ForOrganize, Joined: d.Timestamp, By: d.Message.Path,
			Presence: protocol.PresenceActive, Since: d.Timestamp,
		})
		p.Gates = affair.Changed(p.Gates, func(o *Gate) bool {
			return (o.Whom == g.Whom || o.Whom == protocol.Address{Name: g.Whom.Name}) && o.For != ForBroadcast && o.Outcome() != party.Accepted
		}, func(o *Gate) { o.Moot = true })
	case before == party.Accepted && m != nil && slices.ContainsFunc(g.Answers, func(a Answer) bool { return a.Path == m.By }):
		p = p.without(party.Departure{Member: *m, Time: d.Timestamp, By: d.Message.Human, Reason: "its acceptance is contested or taken back", Path: d.Message.Path})
	}
	return p
}

// invite notes an invite. The human of the author had it done, or agreed to it before: when the
// party was organized, or by an answer to the author's wish.
func (p Party) invite(d affair.Deed, i protocol.Invitation) (Party, error) {
	switch {
	case p.Member(i.Whom.Name, protocol.Name(i.Whom.Host)) != nil:
		return p, refusal.New(refusal.Forbidden, "", "%s is a member of %q already", i.Whom, p.Name)
	case p.Invited(i.Whom) != nil:
		return p, refusal.New(refusal.Forbidden, "", "%s is invited already", i.Whom)
	case i.Whom.Host == "" && p.Anchor == "":
		return p, refusal.New(refusal.Senseless, "", "no host serves %s, and %q hangs on no issue", i.Whom, p.Name)
	}
	if err := p.mayInvite(d, i); err != nil {
		return p, err
	}
	because, _ := d.AnsweredPath()
	p.Gates = affair.Added(p.Gates, &Gate{
		Because: because, Path: d.Message.Path, Hash: d.Hash, For: ForInvite, By: d.Author().Name, Human: i.Human, Host: protocol.Name(i.Whom.Host), Deciders: i.Deciders, Whom: i.Whom,
		At: d.Timestamp, AnswerBy: i.AnswerBy, From: p.inviter(d),
	})
	return p, nil
}

// Invited is the invite of somebody that still waits for an answer; nil if there is none.
func (p Party) Invited(whom protocol.Address) *Gate {
	return each.Find(p.Gates, func(g *Gate) bool { return g.For == ForInvite && g.Whom == whom && g.Waits() })
}

// InvitedFor reports whether an agent was ever invited because of the message `because`. It is
// invited once for it, whatever became of that invite.
func (p Party) InvitedFor(because protocol.Path, whom protocol.Address) bool {
	return slices.ContainsFunc(p.Gates, func(g *Gate) bool { return g.For == ForInvite && g.Because == because && g.Whom == whom })
}

// mayInvite returns an error if no human agreed to the invite. A human had it done, or an agent
// does it, once, because of what the human decided before.
func (p Party) mayInvite(d affair.Deed, i protocol.Invitation) error {
	if d.Message.Human != "" {
		return typed(d, protocol.InviteDecides(p.Organized, i.Whom))
	}
	re, _ := d.AnsweredPath()
	by, agreed := protocol.Address{Name: d.Author().Name, Host: d.Host.String()}, false
	if re == p.Organized {
		agreed = by == human(p.Leader.Via, p.Leader.Host) && slices.Contains(p.Wanted, i.Whom)
	} else if g := p.Gate(re); g != nil && g.For == ForWish {
		agreed = g.Outcome() == party.Accepted && by == human(g.By, g.Host) && g.Whom == i.Whom
	}
	switch {
	case !agreed:
		return refusal.New(refusal.Forbidden, "", "no human has agreed that %s invites %s", by, i.Whom)
	case slices.ContainsFunc(p.Gates, func(g *Gate) bool { return g.For == ForInvite && g.Because == re && g.Whom == i.Whom }):
		return refusal.New(refusal.Forbidden, "", "%s was invited because of that already", i.Whom)
	}
	return nil
}

// inviter is where an invite comes from. If an agent invites because its human agreed to that
// before, it is on behalf of that human, who signed then.
func (p Party) inviter(d affair.Deed) affair.Origin {
	from := d.Origin()
	if from.Human != "" {
		return from
	}
	re, _ := d.AnsweredPath()
	if re == p.Organized {
		from.Human, from.HumanKey = p.Leader.Human, p.Leader.Key
	} else if a := p.Gate(re).Verdict(); a != nil {
		from.Human, from.HumanKey = a.By, a.Key
	}
	return from
}

// wish notes what an agent asks its human for. Where there is no party, it is in the channel of a
// topic, of which the agent wants to tell others.
func (p Party) wish(d affair.Deed, w protocol.Wish) (Party, error) {
	g := &Gate{
		Path: d.Message.Path, Hash: d.Hash, For: ForBroadcast, By: d.Author().Name, Host: d.Host, Whom: w.Whom, Text: w.Text, On: w.On, At: d.Timestamp, From: d.Origin(),
	}
	if p.Organized.IsZero() {
		p.Name = w.Topic
	}
	if w.For == protocol.WishInvite {
		if p.Organized.IsZero() {
			return p, refusal.New(refusal.Unknown, "organize one first", "there is no party in this channel")
		}
		g.For = ForWish
		if p.Member(w.Whom.Name, protocol.Name(w.Whom.Host)) != nil || p.Invited(w.Whom) != nil {
			return p, refusal.New(refusal.Forbidden, "", "%s is a member or invited already", w.Whom)
		}
		if slices.ContainsFunc(p.Gates, func(o *Gate) bool {
			return o.For == ForWish && o.By == g.By && o.Host == g.Host && o.Whom == g.Whom && o.Waits()
		}) {
			return p, refusal.New(refusal.Forbidden, "", "the human is asked for that already")
		}
	}
	g.Deciders = addressedHere(d)
	p.Gates = affair.Added(p.Gates, g)
	return p, nil
}

// asked is the gate at which the leader decides whether somebody is let in, after their human has
// had it asked.
func (p Party) asked(d affair.Deed, who protocol.Address, reason string, because protocol.Path) *Gate {
	return &Gate{
		Path: d.Message.Path, Hash: d.Hash, For: ForJoin, By: who.Name, Human: d.Message.Human, Host: p.Leader.Host, Deciders: []protocol.Name{protocol.Name(p.Leader.Human)},
		Whom: who, Text: reason, At: d.Timestamp, Because: because, From: d.Origin(),
	}
}

func addressedHere(d affair.Deed) (names []protocol.Name) {
	for _, to := range d.To {
		if to.Host == "" || to.Host == d.Host.String() {
			names = append(names, protocol.Name(to.Name))
		}
	}
	return names
}

// join notes that somebody asks to be let in. The leader decides.
func (p Party) join(d affair.Deed, j protocol.PartyJoin) (Party, error) {
	who := protocol.Address{Name: d.Author().Name, Host: d.Host.String()}
	switch {
	case p.memberWho(d) != nil:
		return p, refusal.New(refusal.Senseless, "", "%s is a member of %q already", who, p.Name)
	case slices.ContainsFunc(p.Gates, func(g *Gate) bool { return (g.For == ForJoin || g.For == ForAsking) && g.Whom == who && g.Waits() }):
		return p, refusal.New(refusal.Senseless, "wait for the answer", "%s has asked to join %q already", who, p.Name)
	case d.Message.Human == "": // the human of the author is asked first (R64)
		p.Gates = affair.Added(p.Gates, &Gate{
			Path: d.Message.Path, Hash: d.Hash, For: ForAsking, By: who.Name, Host: d.Host, Deciders: addressedHere(d), Whom: who, Text: j.Reason, At: d.Timestamp, From: d.Origin(),
		})
		return p, nil
	}
	if err := typed(d, protocol.JoinDecides(p.Organized, who)); err != nil {
		return p, err
	}
	p.Gates = affair.Added(p.Gates, p.asked(d, who, j.Reason, protocol.Path{}))
	return p, nil
}

package fleet

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/protocol"
)

// signedOnce carries a command out. The message that it returns bears the signature, and can
// be written again by whoever has the host's key, but not the human's.
func (g *gathering) signedOnce(host protocol.Name, c affair.Command) protocol.Message {
	g.Helper()
	drafts, err := g.state.Decide(Do{c}, g.at)
	if err != nil {
		g.Fatal(err)
	}
	g.say(g.wide[host], drafts[0])
	return drafts[0].Message
}

// copied is why a message that bears a signature of something else is void; nil where it counts.
func (g *gathering) copied(m protocol.Message, channel protocol.ChannelID) error {
	g.Helper()
	p := g.say(g.a, Draft{Message: m, Channel: channel})
	it, _ := g.state.Ledger.Item(p)
	return g.state.Void(it)
}

// Work-with W191: it prevents: with the host's key, which an agent of the same user can read,
// somebody repeats what the leader signed once, in another party or after a later decision.
func TestNoDecisionOfALeaderIsReplayed(t *testing.T) {
	g := newGathering(t)
	k := protocol.Address{Name: "k", Host: "b"}
	join := func() protocol.ChannelID {
		channel, begun := g.organize("nat")
		gate := g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, k)).Invite(channel, k, nil, 0, protocol.Path{}))
		if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept}); err != nil {
			t.Fatal(err)
		}
		return channel
	}
	one := join()
	g.at = g.at.Add(time.Hour)
	other := join()

	loose := g.signedOnce("a", g.rules("a", one, "kick_threshold", "0.1"))
	g.must("a", g.rules("a", one, "kick_threshold", "0.9"))
	g.at = g.at.Add(time.Hour)
	for name, channel := range map[string]protocol.ChannelID{"the same party": one, "another party": other} {
		if g.copied(loose, channel) == nil {
			t.Errorf("a copied change of the rules counts in %s", name)
		}
	}
	g.must("a", g.rules("a", one, "kick_threshold", "0.1")) // who means it again signs it again

	gone := g.signedOnce("a", g.removal(one, k, "another team"))
	if g.copied(gone, other) == nil {
		t.Error("a copied removal counts in another party")
	}
	again := g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(g.party(one).Organized, k)).Invite(one, k, nil, 0, protocol.Path{}))
	if _, err := g.answer("zoe", "b", one, parties.AnswerTo{Gate: again, Act: protocol.ActPartyAccept}); err != nil {
		t.Fatal(err)
	}
	if g.copied(gone, one) == nil {
		t.Error("a copied removal ends a later membership")
	}

	for _, channel := range []protocol.ChannelID{one, other} {
		g.at = g.at.Add(time.Minute)
		g.must("a", g.rules("a", channel, "consensus_mode", "leader-only"))
		g.must("a", g.m().Agree(channel, "Keys are four"))
	}
	p := g.party(one)
	v := protocol.Vote{Item: protocol.ItemRef{Label: "A1", Text: "Keys are four"}, Accept: true}
	vote := g.signedOnce("a", g.actor("nat", "a", "nat", v.Decides(p.Proposals[0].Path)).Vote(one, "A1", true, ""))
	vote.Re = protocol.Refer(other, g.party(other).Proposals[0].Path)
	if g.copied(vote, other) == nil {
		t.Error("a copied vote counts for another party's agreement of the same words")
	}
	g.sameInAnyOrder()

	o := protocol.Organizing{FormHead: protocol.FormHead{From: "m", Topic: "Party system", At: g.at}, Leader: "nat", Rules: protocol.DefaultPartyRules()}
	hsig := g.actor("m", "a", "nat", o.Decides()).Hsig
	o.At = g.at.Add(time.Minute)
	slug, err := protocol.SlugOf(o.Topic)
	if err != nil {
		t.Fatal(err)
	}
	later := protocol.Message{From: "m", To: []protocol.Address{{Name: "m", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActOrganize, Human: "nat", Hsig: hsig, Body: protocol.Organize.Format(o)}
	if g.copied(later, protocol.PartyChannel(testRecord, "a", slug, o.At)) == nil {
		t.Error("a copied signature begins a party again")
	}
}

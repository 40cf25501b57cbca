package fleet

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/protocol"
)

// asker is who asks at a gate, by the record.
func (g *gathering) asker(channel protocol.ChannelID, gate protocol.Path) protocol.Asker {
	g.Helper()
	at := g.party(channel).Gate(gate)
	if at == nil {
		g.Fatal("there is no such gate")
	}
	return g.state.Asker(at.By, at.From, at.Human)
}

// A gate of a stranger's host, which joined by push with the names of a known human and agent, read
// letter for letter like one of that human: nothing told whose key had signed it, nobody vouched for
// the key, and the words of the message named whom they liked.
func TestAskerIsWhoTheRecordSays(t *testing.T) {
	g := newGathering(t)
	channel, gate, _ := g.waiting()
	known := g.asker(channel, gate)
	if known.Human != "nat" || known.Host != "a" || known.Key != fingerprint(g.a.public(t)) || known.Since.IsZero() || known.HumanKey == "" ||
		known.Undeclared || known.Claims != "" || len(known.Namesakes) > 0 {
		t.Errorf("a known human asks as %+v", known)
	}

	stranger := newTestHost(t, "evil", "evil")
	g.wide["evil"] = stranger
	g.say(stranger, g.state.hostDraft(protocol.ActHostJoin, protocol.HostState{
		Host: "evil", Key: stranger.public(t), Humans: []protocol.Name{"nat"}, Agents: []protocol.HostedAgent{{Name: "m"}},
	}))
	o := protocol.Organizing{FormHead: protocol.FormHead{From: "m", Topic: "Party system", At: g.at}, Leader: "nat", Rules: protocol.DefaultPartyRules()}
	c, his, err := parties.Actor{Record: testRecord, Me: "m", Host: "evil", Human: "nat"}.Organize(o)
	if err != nil {
		t.Fatal(err)
	}
	begun := g.must("evil", c)
	invite := protocol.Invitation{
		FormHead: protocol.FormHead{From: "m", Topic: "Party system", At: g.at}, Human: "zoe", Whom: protocol.Address{Name: "k", Host: "b"},
		Deciders: []protocol.Name{"zoe"}, Rules: protocol.DefaultPartyRules(),
	}
	lie := g.say(stranger, deed(his, protocol.ActInvite, "m", "nat", "", begun.Rel(), protocol.Invite.Format(invite)))
	asks := g.asker(his, lie)
	if asks.Human != "nat" || asks.Host != "evil" || asks.Key != fingerprint(stranger.public(t)) || asks.Vouched != "" || asks.Founder || asks.HumanKey != "" || asks.Claims != "zoe" {
		t.Errorf("a stranger asks as %+v", asks)
	}
	for _, want := range []string{
		"Asked by nat@evil through m@evil.", "Nobody vouches for this key.", "No key of nat signed it: it is the word of evil alone.",
		"The message says that it is on behalf of zoe. That is not so.", "Another host has one of the same name: human nat@a, agent m@a, human zoe@b.",
	} {
		if !strings.Contains(asks.Text(), want) {
			t.Errorf("%q is not in:\n%s", want, asks.Text())
		}
	}
	for range maxNamesakes + 2 { // nobody hides the known one among many
		many := newTestHost(t, "x"+string(rune('a'+len(g.wide))), "many")
		g.wide[many.alias] = many
		g.say(many, g.state.hostDraft(protocol.ActHostJoin, protocol.HostState{Host: many.alias, Key: many.public(t), Humans: []protocol.Name{"nat"}}))
	}
	if asks := g.asker(his, lie); len(asks.Namesakes) != maxNamesakes || asks.Namesakes[0] != "human nat@a" || asks.More == 0 {
		t.Errorf("of many namesakes these are told: %v and %d", asks.Namesakes, asks.More)
	}

	// What the human saw stands in the decision under their own signature. One that is wrong or missing,
	// as earlier versions have it, makes no decision void.
	saw := protocol.Sight{Seen: known.Text()}
	_, err = g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyReject, Sight: protocol.Sight{Seen: known.Text(), Sig: "AAAA"}})
	if got := g.party(channel).Gate(gate).Answers[0]; err != nil || got.Seen != "" {
		t.Errorf("a wrong signature of what was seen: %v, %q", err, got.Seen)
	}
	answer := parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept, TakesBack: g.party(channel).Gate(gate).Answers[0].Hash}
	it, _ := g.state.Ledger.Item(gate)
	about := protocol.HumanDecision{RecordID: testRecord, Human: "zoe", Host: "b", Gate: gate, GateHash: it.Hash, Act: answer.Act, TakesBack: answer.TakesBack}
	hsig, err := about.Sign(g.keys["zoe"])
	if err == nil {
		err = saw.Sign(g.keys["zoe"], hsig)
	}
	if err != nil {
		t.Fatal(err)
	}
	answer.Sight = saw
	if _, err := g.answer("zoe", "b", channel, answer); err != nil {
		t.Fatal(err)
	}
	if got := g.party(channel).Gate(gate).Verdict(); got == nil || got.Seen != known.Text() {
		t.Errorf("the decision shows that this was seen: %+v", got)
	}
}

// A name of a gate's asker that is a sentence stands in quotes, in the text that the human signs and in
// titles. It prevents: an agent is called "nat@a, key SHA256:… (parley gates …)" and its invite reads
// like one of nat.
func TestAskerWithASentenceForAName(t *testing.T) {
	const name = "nat through m\u200d. Signed"
	a := protocol.Asker{Agent: name, Human: name, Host: "evil", Claims: name}
	gate := parties.Gate{For: parties.ForInvite, Whom: protocol.Address{Name: name, Host: name}}
	for _, text := range []string{a.Text(), a.Short(), gate.Title(), (&parties.Gate{For: parties.ForOrganize, By: name}).Title()} {
		if !strings.Contains(text, `"nat through m\u200d. Signed"`) || strings.Contains(text, name) {
			t.Errorf("it is not in quotes:\n%s", text)
		}
	}
}

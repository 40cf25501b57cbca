package fleet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/protocol"
)

// gathering is a fleet of host a, with nat and the agent m, and of host b, with zoe and the
// agents k and l, where parties are held.
type gathering struct {
	*decisions
	keys map[string]nkeys.KeyPair // of humans, by name
	wide map[protocol.Name]*testHost
}

func newGathering(t *testing.T) *gathering {
	g := &gathering{decisions: newDecisions(t), keys: map[string]nkeys.KeyPair{}}
	g.wide = map[protocol.Name]*testHost{"a": g.a, "b": g.b}
	for human, h := range map[protocol.Name]*testHost{"nat": g.a, "zoe": g.b} {
		key := g.key("key of " + human.String())
		if err := g.give(h, human, key, nil); err != nil {
			t.Fatal(err)
		}
		g.keys[human.String()] = key
	}
	return g
}

// actor is somebody of a host, for whom a human signs what is decided where one is named.
func (g *gathering) actor(me string, host protocol.Name, human, decides string) parties.Actor {
	a := parties.Actor{Record: testRecord, Me: me, Host: host, Human: human}
	if key := g.keys[human]; key != nil {
		about := protocol.HumanDecision{RecordID: testRecord, Human: protocol.Name(human), Host: host, Act: actOfDecision(decides), Reason: decides}
		var err error
		if a.Hsig, err = about.Sign(key); err != nil {
			g.Fatal(err)
		}
		a.Key = about.Key
	}
	return a
}

// actOfDecision is what is decided, by the text that is signed.
func actOfDecision(decides string) protocol.Act {
	switch {
	case strings.HasPrefix(decides, "PARTY ORGANIZE"):
		return protocol.ActOrganize
	case strings.HasPrefix(decides, "PARTY VOTE"):
		return protocol.ActVote
	case strings.HasPrefix(decides, "invite "):
		return protocol.ActInvite
	case strings.HasPrefix(decides, "join "):
		return protocol.ActPartyJoin
	case strings.Contains(decides, "@"):
		return protocol.ActRemove
	}
	return protocol.ActRules
}

// do carries out a command as a host does; the error is why it is refused, or void.
func (g *gathering) do(host protocol.Name, c affair.Command) (protocol.Path, error) {
	g.Helper()
	drafts, err := g.state.Decide(Do{c}, g.at)
	if err != nil {
		return protocol.Path{}, err
	}
	p := g.say(g.wide[host], drafts[0])
	it, _ := g.state.Ledger.Item(p)
	return p, g.state.Void(it)
}

func (g *gathering) must(host protocol.Name, c affair.Command) protocol.Path {
	g.Helper()
	p, err := g.do(host, c)
	if err != nil {
		g.Fatal(err)
	}
	return p
}

func (g *gathering) party(channel protocol.ChannelID) parties.Party {
	return Value(g.state, parties.Kind(testRecord), channel.String(), g.at)
}

// organize has m begin a party; human is who had it done, "" for m alone.
func (g *gathering) organize(human string, with ...protocol.Address) (protocol.ChannelID, protocol.Path) {
	g.Helper()
	o := protocol.Organizing{FormHead: protocol.FormHead{From: "m", Topic: "Party system", At: g.at}, Leader: "nat", With: with, Rules: protocol.DefaultPartyRules()}
	c, channel, err := g.actor("m", "a", human, o.Decides()).Organize(o)
	if err != nil {
		g.Fatal(err)
	}
	return channel, g.must("a", c)
}

// rules is the leader's change of rules, decided at a host.
func (g *gathering) rules(host protocol.Name, channel protocol.ChannelID, words ...string) affair.Command {
	c := protocol.RuleChange{FormHead: protocol.FormHead{At: g.at}}
	for i := 0; i < len(words); i += 2 {
		c.Set = append(c.Set, protocol.RuleValue{Name: words[i], Value: words[i+1]})
	}
	a := g.actor("nat", host, "nat", c.Decides(g.party(channel).Organized))
	a.At = c.At
	return a.SetRules(channel, c.Set, "")
}

// removal is the leader's of a member.
func (g *gathering) removal(channel protocol.ChannelID, whom protocol.Address, reason string) affair.Command {
	var since protocol.Path
	if m := g.party(channel).Member(whom.Name, protocol.Name(whom.Host)); m != nil {
		since = m.By
	}
	r := protocol.Removal{Whom: whom, Reason: reason}
	return g.actor("nat", "a", "nat", r.Decides(since)).Remove(channel, whom, reason)
}

// answer has a human answer a gate.
func (g *gathering) answer(human string, host protocol.Name, channel protocol.ChannelID, r parties.AnswerTo) (protocol.Path, error) {
	g.Helper()
	it, _ := g.state.Ledger.Item(r.Gate)
	about := protocol.HumanDecision{
		RecordID: testRecord, Human: protocol.Name(human), Host: host, Gate: r.Gate, GateHash: it.Hash, Act: r.Act, Reason: r.Reason, Until: r.Until, TakesBack: r.TakesBack,
	}
	a := parties.Actor{Record: testRecord, Me: human, Host: host, Human: human}
	if key := g.keys[human]; key != nil {
		var err error
		if a.Hsig, err = about.Sign(key); err != nil {
			g.Fatal(err)
		}
		a.Key = about.Key
	}
	return g.do(host, a.Answer(channel, r))
}

// who is who is in the party, and what was asked.
func (g *gathering) who(channel protocol.ChannelID) string {
	p := g.party(channel)
	var b strings.Builder
	for _, m := range p.Members {
		fmt.Fprintf(&b, "%s %s, ", m.Address(), m.Presence)
	}
	for _, gate := range p.Gates {
		fmt.Fprintf(&b, "%s %s, ", gate.Title(), gate.Outcome())
	}
	return strings.TrimSuffix(b.String(), ", ")
}

func (g *gathering) wantWho(channel protocol.ChannelID, want string) {
	g.Helper()
	if got := g.who(channel); got != want {
		g.Errorf("who is in it:\n got %s\nwant %s", got, want)
	}
}

// Work-with W96: who organizes is its first member. Work-with W106, W110: silence is flagged and never a
// refusal, and a late answer counts. Work-with W108: inviting twice changes nothing.
// Work-with W98, W99, W102, W103, W104: a human had somebody invited, and a human of the other
// host decides, by their own key; nothing else moves anybody in.
func TestInvitesAreDecidedByHumans(t *testing.T) {
	g := newGathering(t)
	k, l := protocol.Address{Name: "k", Host: "b"}, protocol.Address{Name: "l", Host: "b"}
	channel, begun := g.organize("nat")
	g.wantWho(channel, "m@a active")
	if _, err := g.do("a", g.actor("m", "a", "", "").Invite(channel, k, []protocol.Name{"zoe"}, time.Hour, protocol.Path{})); err == nil {
		t.Error("an agent invites on its own")
	}
	invite := func(whom protocol.Address) protocol.Path {
		return g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, whom)).Invite(channel, whom, []protocol.Name{"zoe"}, time.Hour, protocol.Path{}))
	}
	first, second := invite(k), invite(l)
	if _, err := g.do("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, k)).Invite(channel, k, nil, 0, protocol.Path{})); err == nil {
		t.Error("somebody is invited twice")
	}
	g.wantWho(channel, "m@a active, invite of k@b pending, invite of l@b pending")
	if _, err := g.answer("nat", "a", channel, parties.AnswerTo{Gate: first, Act: protocol.ActPartyAccept}); err == nil {
		t.Error("a human of another host accepts")
	}
	if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: first, Act: protocol.ActPartyDefer, Reason: "after standup", Until: g.at.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	g.wantWho(channel, "m@a active, invite of k@b deferred, invite of l@b pending")
	g.at = g.at.Add(3 * time.Hour)
	g.wantWho(channel, "m@a active, invite of k@b expired, invite of l@b expired")
	if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: first, Act: protocol.ActPartyAccept}); err != nil {
		t.Fatal(err) // a late answer counts
	}
	if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: second, Act: protocol.ActPartyReject, Reason: "no time"}); err != nil {
		t.Fatal(err)
	}
	g.wantWho(channel, "m@a active, k@b active, invite of k@b accepted, invite of l@b declined")
	g.must("b", g.actor("k", "b", "", "").Leave(channel, "done"))
	g.wantWho(channel, "m@a active, invite of k@b accepted, invite of l@b declined")
	g.must("a", g.actor("m", "a", "", "").Leave(channel, "done"))
	if p := g.party(channel); !p.Over() {
		t.Error("a party that all have left is not over")
	}
	g.sameInAnyOrder()
}

// Work-with W117. It prevents: a party shows that an agent declined, or that a human is asked about
// it, when it has come in by another gate.
func TestNothingWaitsForWhoHasJoined(t *testing.T) {
	g := newGathering(t)
	k := protocol.Address{Name: "k", Host: "b"}
	channel, begun := g.organize("nat")
	invite := func() protocol.Path {
		return g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, k)).Invite(channel, k, []protocol.Name{"zoe"}, time.Hour, protocol.Path{}))
	}
	answer := func(human string, host protocol.Name, gate protocol.Path, act protocol.Act) {
		t.Helper()
		if _, err := g.answer(human, host, channel, parties.AnswerTo{Gate: gate, Act: act, Reason: "why"}); err != nil {
			t.Fatal(err)
		}
	}
	declined := invite()
	answer("zoe", "b", declined, protocol.ActPartyReject)
	pending := invite()
	join := g.must("b", g.actor("k", "b", "zoe", protocol.JoinDecides(begun, k)).Join(channel, "", nil))
	answer("nat", "a", join, protocol.ActPartyAccept)
	p := g.party(channel)
	if p.Member("k", "b") == nil || p.Gate(pending).Waits() || p.Invited(k) != nil || !p.Gate(declined).Moot || p.Gate(join).Moot {
		t.Errorf("%s: gates of k are still open", g.who(channel))
	}
	if file := p.File(g.at, func(party.Member) parties.Standing { return parties.Standing{} }); len(file.PendingInvites) > 0 {
		t.Errorf("the party's file has %v", file.PendingInvites)
	}
	g.must("b", g.actor("k", "b", "", "").Leave(channel, "done"))
	answer("zoe", "b", invite(), protocol.ActPartyAccept) // an invite after that is a new one
	g.sameInAnyOrder()
}

// It prevents: a decision that the human's key did not sign is written and told, and every host then
// finds it void.
func TestUnsignedDecisionsAreNotWritten(t *testing.T) {
	g := newGathering(t)
	k := protocol.Address{Name: "k", Host: "b"}
	channel, begun := g.organize("nat")
	gate := g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, k)).Invite(channel, k, nil, 0, protocol.Path{}))
	zoe := g.actor("zoe", "b", "zoe", "join another party")
	nat := g.actor("nat", "a", "nat", "another rule")
	for what, c := range map[string]affair.Command{
		"an answer":               zoe.Answer(channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept}),
		"a rule":                  nat.SetRules(channel, []protocol.RuleValue{{Name: "accept_threshold", Value: "0.5"}}, ""),
		"the removal of a member": nat.Remove(channel, protocol.Address{Name: "m", Host: "a"}, "it is away"),
		"an invitation":           g.actor("m", "a", "nat", protocol.InviteDecides(gate, k)).Invite(channel, protocol.Address{Name: "l", Host: "b"}, nil, 0, protocol.Path{}),
	} {
		if _, err := g.state.Decide(Do{c}, g.at); err == nil || !strings.Contains(err.Error(), "sign") {
			t.Errorf("%s that is signed for something else is written: %v", what, err)
		}
	}
}

// An agent that organizes asks its human first, and invites only whom they agreed to (R64).
func TestAgentsAskTheirHumanFirst(t *testing.T) {
	g := newGathering(t)
	k, l := protocol.Address{Name: "k", Host: "b"}, protocol.Address{Name: "l", Host: "b"}
	channel, begun := g.organize("", k)
	m := g.actor("m", "a", "", "")
	if _, err := g.do("a", m.Invite(channel, k, nil, 0, begun)); err == nil {
		t.Error("it invites before its human agreed")
	}
	if _, err := g.answer("nat", "a", channel, parties.AnswerTo{Gate: begun, Act: protocol.ActPartyAccept}); err != nil {
		t.Fatal(err)
	}
	g.must("a", m.Invite(channel, k, nil, 0, begun))
	if _, err := g.do("a", m.Invite(channel, l, nil, 0, begun)); err == nil {
		t.Error("it invites whom the human did not agree to")
	}
	wish := g.must("a", m.Wish(channel, protocol.Wish{For: protocol.WishInvite, Whom: l}, []protocol.Name{"nat"}))
	if _, err := g.do("a", m.Invite(channel, l, nil, 0, wish)); err == nil {
		t.Error("it invites before its human agreed to that wish")
	}
	if _, err := g.answer("nat", "a", channel, parties.AnswerTo{Gate: wish, Act: protocol.ActPartyAccept}); err != nil {
		t.Fatal(err)
	}
	g.must("a", m.Invite(channel, l, nil, 0, wish))
	g.wantWho(channel, "m@a active, m wants to organize a party accepted, invite of k@b pending, m wants to invite l@b accepted, invite of l@b pending")
	g.sameInAnyOrder()
}

// What a party agrees on, its rules and its tasks; the leader's are decided with their key.
func TestPartiesAgreeAndWork(t *testing.T) {
	g := newGathering(t)
	k := protocol.Address{Name: "k", Host: "b"}
	channel, begun := g.organize("nat")
	invite := g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, k)).Invite(channel, k, nil, 0, protocol.Path{}))
	if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: invite, Act: protocol.ActPartyAccept}); err != nil {
		t.Fatal(err)
	}
	onA, onB := g.actor("m", "a", "", ""), g.actor("k", "b", "", "")
	g.must("a", onA.Agree(channel, "Panes are named after agents"))
	g.must("b", onB.Vote(channel, "A1", true, ""))
	g.must("a", g.rules("a", channel, "consensus_mode", "leader-only"))
	g.must("b", onB.Agree(channel, "Titles are set by the shell"))
	if _, err := g.do("b", onB.Vote(channel, "A2", true, "")); err == nil {
		t.Error("a member settles what is the leader's to settle")
	}
	p := g.party(channel)
	g.must("a", g.actor("nat", "a", "nat", protocol.Vote{Item: protocol.ItemRef{Label: "A2", Text: p.Proposals[1].Text}, Reason: "no"}.Decides(p.Proposals[1].Path)).Vote(channel, "A2", false, "no"))
	g.must("a", onA.AddTask(channel, "Write the restart test"))
	g.must("b", onB.Take(channel, "T1", time.Hour))
	if _, err := g.do("a", onA.Take(channel, "T1", 0)); err == nil {
		t.Error("two have one task")
	}
	g.at = g.at.Add(2 * time.Hour)
	g.must("a", onA.Take(channel, "T1", 0))
	g.must("a", onA.EndTask(channel, "T1", protocol.ActDone, "it is in"))
	lease := g.must("a", onA.Lease(channel, []string{"src/panes"}, time.Hour, ""))
	if _, err := g.do("b", onB.Lease(channel, []string{"src/panes/x.go"}, 0, "")); err == nil {
		t.Error("two reserve one thing")
	}
	g.must("a", onA.Release(channel, lease))
	g.must("b", onB.Lease(channel, []string{"src/panes/x.go"}, 0, ""))
	p = g.party(channel)
	if got := fmt.Sprint(p.Proposals[0].Settled(), " ", p.Proposals[1].Settled(), " ", p.Tasks[0].Done.By, " ", p.Leases[1].Fence); got != "accepted declined m@a 2" {
		t.Error(got)
	}
	g.must("a", g.removal(channel, k, "another team"))
	g.wantWho(channel, "m@a active, invite of k@b accepted")
	var none *Refusal
	if _, err := g.do("b", onB.Leave(channel, "")); !errors.As(err, &none) {
		t.Errorf("who was removed leaves: %v", err)
	}
	g.sameInAnyOrder()
}

package fleet

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: a party of very many costs more with each deed, because a step reads or copies
// all that was ever said in it.
func TestAPartyOfAThousand(t *testing.T) {
	scratch.Long(t)
	g := newGathering(t)
	const crowd = 1000
	says := protocol.HostState{Host: "b", Humans: []protocol.Name{"zoe"}}
	for i := range crowd {
		says.Agents = append(says.Agents, protocol.HostedAgent{Name: protocol.Name(fmt.Sprintf("k%d", i))})
	}
	g.say(g.b, g.state.hostDraft(protocol.ActHostAgents, says))
	channel, begun := g.organize("nat")
	for _, k := range says.Agents {
		whom := protocol.Address{Name: k.Name.String(), Host: "b"}
		invite := protocol.Invitation{FormHead: protocol.FormHead{From: "m"}, Human: "nat", Whom: whom, Deciders: []protocol.Name{"zoe"}, Rules: protocol.DefaultPartyRules()}
		gate := g.say(g.a, deed(channel, protocol.ActInvite, "m", "nat", g.actor("m", "a", "nat", protocol.InviteDecides(begun, whom)).Hsig, "", protocol.Invite.Format(invite)))
		g.sayAnswer(g.b, "zoe", "b", gate, protocol.ActPartyAccept, "")
	}
	if p := g.party(channel); len(p.Members) != 1+crowd {
		t.Fatalf("%d members", len(p.Members))
	}
	busy := protocol.SayPresence.Format(protocol.PresenceNote{State: protocol.PresenceBusy})
	g.say(g.b, deed(channel, protocol.ActPresence, "k7", "", "", "", busy))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := g.party(channel)
	runtime.ReadMemStats(&after)
	if p.Members[8].Presence != protocol.PresenceBusy {
		t.Errorf("%+v", p.Members[8])
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("one deed and a look took %d bytes", took)
	}
}

// It prevents: two parties of one name, or two hundred, are taken for one another.
func TestPartiesOfOneName(t *testing.T) {
	g := newGathering(t)
	channels := map[protocol.ChannelID]bool{}
	for i := range 200 {
		channel, _ := g.organize("nat")
		channels[channel] = true
		if i%50 == 0 {
			g.must("a", g.m().Leave(channel, ""))
		}
	}
	over := 0
	for _, name := range g.state.Affairs(parties.KindName) {
		p := Value(g.state, parties.Kind(testRecord), name, g.at)
		if p.Over() {
			over++
		}
		if !channels[protocol.ChannelID(name)] || p.Slug != "party-system" {
			t.Errorf("%s is %q", name, p.Slug)
		}
	}
	if len(channels) != 200 || over != 4 {
		t.Errorf("%d parties, of which %d are over", len(channels), over)
	}
	// Two of one name that the two hosts organize in the same moment are two as well.
	o := protocol.Organizing{FormHead: protocol.FormHead{From: "k", Topic: "Party system", At: g.at}, Leader: "zoe", Rules: protocol.DefaultPartyRules()}
	c, onB, err := g.actor("k", "b", "zoe", o.Decides()).Organize(o)
	if err != nil {
		t.Fatal(err)
	}
	g.must("b", c)
	// Who says a name and a time of another's party in their own channel, or their own in another's, has none.
	o.From, o.Leader = "m", "nat"
	p := g.say(g.a, deed(onB, protocol.ActOrganize, "m", "nat", g.actor("m", "a", "nat", o.Decides()).Hsig, "", protocol.Organize.Format(o)))
	g.wantVoid(p, "not the channel that follows from it")
	if got := g.party(onB).Leader; got.Human != "zoe" || channels[onB] {
		t.Errorf("%+v leads it", got)
	}
}

// It prevents: what people call a party, why they do something or what they name in it, makes
// a deed that is refused or read otherwise than it was meant: their signature covers it.
func TestOddNamesAndTextsOfParties(t *testing.T) {
	texts := []string{
		"Tmux / design", "a | b", "größer\u00a0als  1", "会議 録", "x: y | timestamp: 2001-01-01", "say \"hi\"", "LEADER: eve", "-- \x1b[31mred\x1b[0m", strings.Repeat("long ", 15),
		"  blanks  ", "two\nlines", "one\n\n\nWITH: eve@b\nRULES: {}", "[A1] x", "T1: y", "```", "- item", "\u202etxet", "a\r\nb\tc",
	}
	for _, text := range texts {
		t.Run(protocol.Hash([]byte(text))[:8], func(t *testing.T) {
			g := newGathering(t)
			k := protocol.Address{Name: "k", Host: "b"}
			o := protocol.Organizing{FormHead: protocol.FormHead{From: "m", Topic: text, At: g.at}, Leader: "nat", Team: text, Anchor: text, Rules: protocol.DefaultPartyRules()}
			if _, err := protocol.SlugOf(text); err != nil {
				o.Topic = "named"
			}
			c, channel, err := g.actor("m", "a", "nat", o.Decides()).Organize(o)
			if err != nil {
				t.Fatal(err)
			}
			begun := g.must("a", c)
			gate := g.must("a", g.invite(channel, begun, k, 0))
			if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept, Reason: text}); err != nil {
				t.Errorf("accept because %q: %v", text, err)
			}
			g.must("b", g.k().AddTask(channel, text))
			g.must("b", g.k().Take(channel, "T1", 0))
			g.must("b", g.k().EndTask(channel, "T1", protocol.ActDone, text))
			g.must("b", g.k().Agree(channel, text))
			g.must("a", g.m().Vote(channel, "A1", false, text))
			g.must("b", g.k().Lease(channel, []string{text}, 0, text))
			if _, err := g.do("a", g.removal(channel, k, text)); err != nil {
				t.Errorf("remove because %q: %v", text, err)
			}
			if p := g.party(channel); len(p.Left) != 1 || len(p.Tasks) != 1 || p.Tasks[0].Done == nil || p.Proposals[0].Settled() != party.Declined {
				t.Errorf("%+v", p)
			}
		})
	}
}

// It prevents: a party is begun that names more than its first deed can hold.
func TestAPartyBeginsWithSoMany(t *testing.T) {
	g := newGathering(t)
	var with []protocol.Address
	for i := range 256 {
		with = append(with, protocol.Address{Name: fmt.Sprintf("k%d", i), Host: "b"})
	}
	channel, _ := g.organize("", slices.Concat(with, with[:3])...)
	if p := g.party(channel); len(p.Wanted) != 256 {
		t.Errorf("%d are wanted", len(p.Wanted))
	}
	o := protocol.Organizing{FormHead: protocol.FormHead{From: "m", Topic: "more", At: g.at}, Leader: "nat", Rules: protocol.DefaultPartyRules(),
		With: append(with, protocol.Address{Name: "one", Host: "b"})}
	c, _, err := g.actor("m", "a", "", "").Organize(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.do("a", c); err == nil || !strings.Contains(err.Error(), "more than 256") {
		t.Errorf("more are named: %v", err)
	}
}
